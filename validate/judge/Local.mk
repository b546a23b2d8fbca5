# SPDX-License-Identifier: Apache-2.0

# Verdicts and attribution: pure functions on numbers.
noinst_LTLIBRARIES += validate/judge/libjudge.la
validate_judge_libjudge_la_SOURCES = \
	validate/judge/history_figure.c validate/judge/history_figure.h \
	validate/judge/index.c validate/judge/index.h \
	validate/judge/reference.c validate/judge/reference.h \
	# end of what both use

# from the measured links to the part at fault
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/blocks.c validate/judge/links/blocks.h \
	validate/judge/links/candidates.c validate/judge/links/candidates.h \
	validate/judge/links/cells.c validate/judge/links/cells.h \
	validate/judge/links/court.h \
	validate/judge/links/doubts.c validate/judge/links/doubts.h \
	validate/judge/links/findings.c validate/judge/links/findings.h \
	validate/judge/links/fit.c \
	validate/judge/links/hearing.c validate/judge/links/hearing.h \
	validate/judge/links/liars.c \
	validate/judge/links/moments.c validate/judge/links/moments.h \
	validate/judge/links/links.c validate/judge/links/links.h \
	validate/judge/links/matrix.c validate/judge/links/matrix.h \
	validate/judge/links/pairs.c \
	validate/judge/links/pursuit.c validate/judge/links/pursuit.h \
	validate/judge/links/questions.c \
	validate/judge/links/rails.c \
	validate/judge/links/ranking.c validate/judge/links/ranking.h \
	validate/judge/links/sums.c validate/judge/links/sums.h \
	validate/judge/links/suspects.c \
	validate/judge/links/testimony.c \
	validate/judge/links/together.c \
	validate/judge/links/trial.c validate/judge/links/trial.h \
	# end of links

# what nodes are and have, held against each other
validate_judge_libjudge_la_SOURCES += \
	validate/judge/facts/facts.c validate/judge/facts/facts.h \
	validate/judge/facts/golden.c validate/judge/facts/golden.h \
	validate/judge/facts/groups.c validate/judge/facts/groups.h \
	validate/judge/facts/majority.c validate/judge/facts/majority.h \
	validate/judge/facts/severity.c \
	# end of facts

validate_judge_libjudge_la_LIBADD = validate/schedule/libschedule.la lib/libstatistics.la -lm
