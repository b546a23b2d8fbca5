# SPDX-License-Identifier: Apache-2.0

# `muster run`: a command on some nodes of a job, restarted without a node at fault. A part of the
# command.
muster_SOURCES += \
	validate/run/run.c validate/run/run.h \
	validate/run/command.c \
	validate/run/decide.c validate/run/decide.h \
	validate/run/examine.c validate/run/examine.h \
	validate/run/hang.c validate/run/hang.h \
	validate/run/keeper.c validate/run/keeper.h \
	validate/run/launch.c validate/run/launch.h \
	validate/run/layout.c validate/run/layout.h \
	validate/run/requeue.c validate/run/requeue.h \
	validate/run/script.c validate/run/script.h \
	# end of run
