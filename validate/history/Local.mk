# SPDX-License-Identifier: Apache-2.0

# What earlier runs found.
if BUILD_MUSTER
noinst_LTLIBRARIES += validate/history/libhistory.la
validate_history_libhistory_la_SOURCES = validate/history/history.c validate/history/history.h
validate_history_libhistory_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
validate_history_libhistory_la_LIBADD = $(SQLITE_LIBS)
endif BUILD_MUSTER
