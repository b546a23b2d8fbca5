# SPDX-License-Identifier: Apache-2.0

# `muster certify`: choose nodes, run the battery on them, judge, act. A part of the command.
muster_SOURCES += \
	validate/certify/certify.c validate/certify/certify.h \
	validate/certify/outcome.c validate/certify/outcome.h \
	validate/certify/options.c \
	validate/certify/allocate.c \
	validate/certify/neighbours.c \
	validate/certify/nodes.c \
	validate/certify/stages.c \
	validate/certify/subnet.c \
	validate/certify/config.c \
	validate/certify/hints.c validate/certify/hints.h \
	validate/certify/links.c \
	validate/certify/rails.c \
	validate/certify/actions.c \
	validate/certify/extras.c \
	validate/certify/facts.c \
	validate/certify/report.c \
	validate/certify/reports.c \
	validate/certify/sums.c \
	validate/certify/suspects.c \
	validate/certify/turns.c \
	# end of certify
