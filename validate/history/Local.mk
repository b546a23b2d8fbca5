# SPDX-License-Identifier: Apache-2.0

# What earlier runs found.
if BUILD_MUSTER
noinst_LIBRARIES += validate/history/libhistory.a
libhistory = validate/history/libhistory.a $(SQLITE_LIBS)
validate_history_libhistory_a_SOURCES = \
	validate/history/accept.c \
	validate/history/add.c \
	validate/history/campaign.c validate/history/campaign.h \
	validate/history/copy.c \
	validate/history/database.c validate/history/database.h \
	validate/history/fingerprints.c \
	validate/history/history.h \
	validate/history/offenders.c validate/history/offenders.h \
	validate/history/read.c \
	validate/history/recall.c validate/history/recall.h \
	validate/history/stage_values.c validate/history/stage_values.h \
	validate/history/spill.c \
	validate/history/node_status.c validate/history/node_status.h \
	# end of validate_history_libhistory_a_SOURCES
validate_history_libhistory_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
endif BUILD_MUSTER
