# SPDX-License-Identifier: Apache-2.0

# Records in; tables, progress and reports of many forms out.
if BUILD_MUSTER
noinst_LIBRARIES += validate/report/libreport.a
libreport = validate/report/libreport.a lib/libstatistics.a $(JANSSON_LIBS)
validate_report_libreport_a_SOURCES = \
	validate/report/records.c validate/report/records.h \
	validate/report/table.c validate/report/table.h \
	validate/report/progress.c validate/report/progress.h \
	validate/report/live.c validate/report/live.h \
	validate/report/recordfile.c validate/report/recordfile.h \
	validate/report/survey.c validate/report/survey.h \
	validate/report/survey_links.c \
	validate/report/format.c validate/report/format.h \
	validate/report/overview.c \
	validate/report/junit.c \
	validate/report/prometheus.c \
	validate/report/csv.c \
	validate/report/json.c \
	validate/report/html.c \
	validate/report/html_links.c validate/report/html.h \
	validate/report/html_training.c \
	# end of validate_report_libreport_a_SOURCES
nodist_validate_report_libreport_a_SOURCES = validate/report/page.c
validate_report_libreport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
BUILT_SOURCES += validate/report/page.c
endif BUILD_MUSTER

# The page's template: its parts are put in where page.html says so, and the whole becomes an array.
page_parts = \
	validate/report/page/page.html \
	validate/report/page/style.css \
	validate/report/page/data.js \
	validate/report/page/parts.js \
	validate/report/page/summary.js \
	validate/report/page/job.js \
	validate/report/page/matrix.js \
	validate/report/page/charts.js \
	validate/report/page/training.js \
	validate/report/page/topology.js \
	validate/report/page/verdicts.js \
	validate/report/page/node.js \
	validate/report/page/main.js \
	# end of page_parts
EXTRA_DIST += $(page_parts)
CLEANFILES += validate/report/page.c
validate/report/page.c: $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) validate/report && { \
	    echo '#include "validate/report/html.h"'; \
	    echo 'const unsigned char page_template[] = {'; \
	    $(AWK) -v parts=$(srcdir)/validate/report/page/ \
	        '/^@@include / { sub(/@@$$/, "", $$2); \
	            while ((getline line < (parts $$2)) > 0) print line; next } { print }' \
	        $(srcdir)/validate/report/page/page.html | \
	        LC_ALL=C od -An -v -tu1 | $(SED) 's/[0-9][0-9]*/&,/g'; \
	    echo '0};'; } >$@.new && mv $@.new $@
