# SPDX-License-Identifier: Apache-2.0

# Who measures with whom, and when: pure functions on numbers.
noinst_LIBRARIES += validate/schedule/libschedule.a
validate_schedule_libschedule_a_SOURCES = \
	validate/schedule/apart.c validate/schedule/apart.h \
	validate/schedule/schedule.c validate/schedule/schedule.h \
	validate/schedule/schedule_make.c validate/schedule/schedule_parts.h \
	validate/schedule/split.c validate/schedule/split.h \
	validate/schedule/tournament.c validate/schedule/tournament.h \
	# end of validate_schedule_libschedule_a_SOURCES
