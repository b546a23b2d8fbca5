# SPDX-License-Identifier: Apache-2.0

# `muster compare`: what differs between nodes. A part of the command.
muster_SOURCES += \
	validate/compare/compare.c \
	validate/compare/comparison.c validate/compare/comparison.h \
	validate/compare/hints.c validate/compare/hints.h \
	validate/compare/show.c validate/compare/show.h \
	# end of compare
