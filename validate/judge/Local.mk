# SPDX-License-Identifier: Apache-2.0

# Verdicts and attribution: pure functions on numbers.
noinst_LTLIBRARIES += validate/judge/libjudge.la
validate_judge_libjudge_la_SOURCES = \
	validate/judge/facts.c validate/judge/facts.h \
	validate/judge/golden.c validate/judge/golden.h \
	validate/judge/groups.c validate/judge/groups.h \
	validate/judge/history_figure.c validate/judge/history_figure.h \
	validate/judge/index.c validate/judge/index.h \
	validate/judge/links.c validate/judge/links.h \
	validate/judge/majority.c validate/judge/majority.h \
	validate/judge/matrix.c validate/judge/matrix.h \
	validate/judge/reference.c validate/judge/reference.h \
	validate/judge/severity.c \
	validate/judge/trial.c validate/judge/trial.h \
	# end of validate_judge_libjudge_la_SOURCES
validate_judge_libjudge_la_LIBADD = lib/libstatistics.la
