# SPDX-License-Identifier: Apache-2.0

# Records in; tables, progress, JUnit out.
if BUILD_MUSTER
noinst_LTLIBRARIES += validate/report/libreport.la
validate_report_libreport_la_SOURCES = \
	validate/report/records.c validate/report/records.h \
	validate/report/table.c validate/report/table.h \
	validate/report/progress.c validate/report/progress.h \
	validate/report/junit.c validate/report/junit.h \
	# end of validate_report_libreport_la_SOURCES
validate_report_libreport_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
validate_report_libreport_la_LIBADD = $(JANSSON_LIBS)
endif BUILD_MUSTER
