# SPDX-License-Identifier: Apache-2.0

# Verdicts and attribution: pure functions on numbers.
noinst_LTLIBRARIES += validate/judge/libjudge.la
validate_judge_libjudge_la_SOURCES = \
	validate/judge/blocks.c validate/judge/blocks.h \
	validate/judge/cells.c validate/judge/cells.h \
	validate/judge/court.h \
	validate/judge/facts.c validate/judge/facts.h \
	validate/judge/findings.c validate/judge/findings.h \
	validate/judge/golden.c validate/judge/golden.h \
	validate/judge/groups.c validate/judge/groups.h \
	validate/judge/history_figure.c validate/judge/history_figure.h \
	validate/judge/index.c validate/judge/index.h \
	validate/judge/liars.c \
	validate/judge/links.c validate/judge/links.h \
	validate/judge/majority.c validate/judge/majority.h \
	validate/judge/matrix.c validate/judge/matrix.h \
	validate/judge/pairs.c \
	validate/judge/pursuit.c validate/judge/pursuit.h \
	validate/judge/rails.c \
	validate/judge/reference.c validate/judge/reference.h \
	validate/judge/severity.c \
	validate/judge/suspects.c \
	validate/judge/together.c \
	validate/judge/trial.c validate/judge/trial.h \
	# end of validate_judge_libjudge_la_SOURCES
validate_judge_libjudge_la_LIBADD = lib/libstatistics.la -lm
