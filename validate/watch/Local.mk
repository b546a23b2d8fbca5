# SPDX-License-Identifier: Apache-2.0

# `muster watch`: who holds up a running job. A part of the command.
muster_SOURCES += \
	validate/watch/command.c \
	validate/watch/judge.c validate/watch/judge.h validate/watch/judge_parts.h \
	validate/watch/rails.c \
	validate/watch/ranks.c \
	validate/watch/ras.c validate/watch/ras.h \
	validate/watch/read.c validate/watch/read.h \
	validate/watch/sample.c validate/watch/sample.h \
	validate/watch/show.c validate/watch/show.h \
	validate/watch/sockets.c \
	validate/watch/window.c \
	# end of watch
