# SPDX-License-Identifier: Apache-2.0

# Verdicts and attribution: pure functions on numbers.
noinst_LTLIBRARIES += validate/judge/libjudge.la
validate_judge_libjudge_la_SOURCES = \
	validate/judge/links.c validate/judge/links.h \
	validate/judge/majority.c validate/judge/majority.h \
	# end of validate_judge_libjudge_la_SOURCES
validate_judge_libjudge_la_LIBADD = lib/libstatistics.la
