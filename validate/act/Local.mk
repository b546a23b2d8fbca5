# SPDX-License-Identifier: Apache-2.0

# When and how far muster acts on a cluster: pure but for testing.c.
noinst_LTLIBRARIES += validate/act/libact.la
validate_act_libact_la_SOURCES = \
	validate/act/act.h \
	validate/act/alike.c validate/act/alike.h \
	validate/act/cap.c validate/act/cap.h \
	validate/act/decision.c validate/act/decision.h \
	validate/act/health.c validate/act/health.h \
	validate/act/plan.c validate/act/plan.h \
	validate/act/reason.c validate/act/reason.h \
	validate/act/refusals.c validate/act/refusals.h \
	validate/act/strikes.c validate/act/strikes.h \
	validate/act/testing.c validate/act/testing.h \
	validate/act/turn.c validate/act/turn.h \
	# end of validate_act_libact_la_SOURCES
validate_act_libact_la_LIBADD = -lm
