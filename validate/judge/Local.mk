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
	validate/judge/links/links.c validate/judge/links/links.h \
	validate/judge/links/sums.c validate/judge/links/sums.h \
	validate/judge/links/suspects.c \
	# end of links

# the samples as a table, beside what they should be
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/cells/blocks.c validate/judge/links/cells/blocks.h \
	validate/judge/links/cells/cells.c validate/judge/links/cells/cells.h \
	validate/judge/links/cells/fit.c \
	# end of cells

# the parts that explain the low ones of these
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/pursuit/candidates.c validate/judge/links/pursuit/candidates.h \
	validate/judge/links/pursuit/hearing.c validate/judge/links/pursuit/hearing.h \
	validate/judge/links/pursuit/pursuit.c validate/judge/links/pursuit/pursuit.h \
	validate/judge/links/pursuit/ranking.c validate/judge/links/pursuit/ranking.h \
	# end of pursuit

# the findings: what was pursued, and what no part explains
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/court/court.h \
	validate/judge/links/court/findings.c validate/judge/links/court/findings.h \
	validate/judge/links/court/liars.c \
	validate/judge/links/court/moments.c validate/judge/links/court/moments.h \
	validate/judge/links/court/pairs.c \
	validate/judge/links/court/questions.c \
	validate/judge/links/court/rails.c \
	validate/judge/links/court/together.c \
	# end of court

# records judged, and suspects measured again
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/localization/confirm.c validate/judge/links/localization/confirm.h \
	validate/judge/links/localization/doubts.c validate/judge/links/localization/doubts.h \
	validate/judge/links/localization/likelihood.c validate/judge/links/localization/likelihood.h \
	validate/judge/links/localization/matrix.c validate/judge/links/localization/matrix.h \
	validate/judge/links/localization/samples.c validate/judge/links/localization/samples.h \
	validate/judge/links/localization/self_reports.c \
	validate/judge/links/localization/localization.c validate/judge/links/localization/localization.h \
	validate/judge/links/localization/verbs_retest.c validate/judge/links/localization/verbs_retest.h \
	# end of localization

# packets that were lost
validate_judge_libjudge_la_SOURCES += \
	validate/judge/links/losses/confirm.c \
	validate/judge/links/losses/losses.c validate/judge/links/losses/losses.h \
	validate/judge/links/losses/pairs.c validate/judge/links/losses/pairs.h \
	validate/judge/links/losses/retest.c validate/judge/links/losses/retest.h \
	validate/judge/links/losses/uplinks.c \
	# end of losses

# what nodes are and have, held against each other
validate_judge_libjudge_la_SOURCES += \
	validate/judge/facts/duplicates.c validate/judge/facts/duplicates.h \
	validate/judge/facts/facts.c validate/judge/facts/facts.h \
	validate/judge/facts/golden.c validate/judge/facts/golden.h \
	validate/judge/facts/groups.c validate/judge/facts/groups.h \
	validate/judge/facts/hosts.c validate/judge/facts/hosts.h \
	validate/judge/facts/majority.c validate/judge/facts/majority.h \
	validate/judge/facts/severity.c \
	# end of facts

validate_judge_libjudge_la_LIBADD = validate/schedule/libschedule.la lib/libstatistics.la -lm
