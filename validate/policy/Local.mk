# SPDX-License-Identifier: Apache-2.0

# When and how far muster acts on a cluster: pure but for testing.c.
noinst_LIBRARIES += validate/policy/libpolicy.a
validate_policy_libpolicy_a_SOURCES = \
	validate/policy/policy.h \
	validate/policy/alike.c validate/policy/alike.h \
	validate/policy/cap.c validate/policy/cap.h \
	validate/policy/decision.c validate/policy/decision.h \
	validate/policy/health.c validate/policy/health.h \
	validate/policy/idle.c validate/policy/idle.h \
	validate/policy/plan.c validate/policy/plan.h \
	validate/policy/quick_failures.c validate/policy/quick_failures.h \
	validate/policy/reason.c validate/policy/reason.h \
	validate/policy/refusals.c validate/policy/refusals.h \
	validate/policy/strikes.c validate/policy/strikes.h \
	validate/policy/testing.c validate/policy/testing.h \
	validate/policy/turn.c validate/policy/turn.h \
	# end of validate_policy_libpolicy_a_SOURCES
