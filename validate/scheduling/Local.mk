# SPDX-License-Identifier: Apache-2.0

# The site's scheduling: its configuration against itself.
if BUILD_MUSTER
noinst_LIBRARIES += validate/scheduling/libscheduling.a
endif
validate_scheduling_libscheduling_a_SOURCES = \
	validate/scheduling/site.c validate/scheduling/site.h \
	validate/scheduling/check.h validate/scheduling/kinds.h \
	validate/scheduling/findings.c \
	validate/scheduling/limits.c \
	validate/scheduling/accounts.c \
	validate/scheduling/priority.c \
	validate/scheduling/preemption.c \
	validate/scheduling/partitions.c \
	validate/scheduling/scheduler.c \
	validate/scheduling/reservations.c \
	validate/scheduling/verify/intent.c validate/scheduling/verify/intent.h \
	validate/scheduling/verify/kinds.c validate/scheduling/verify/kinds.h \
	validate/scheduling/verify/seen.c validate/scheduling/verify/seen.h \
	validate/scheduling/verify/run.c validate/scheduling/verify/run.h \
	validate/scheduling/verify/limit.c \
	validate/scheduling/verify/priority.c \
	validate/scheduling/verify/preempt.c \
	validate/scheduling/verify/reserved.c \
	validate/scheduling/verify/certified.c \
	validate/scheduling/simulate/day.c validate/scheduling/simulate/day.h \
	validate/scheduling/simulate/replay.c \
	validate/scheduling/simulate/outcome.c \
	# end of validate_scheduling_libscheduling_a_SOURCES
