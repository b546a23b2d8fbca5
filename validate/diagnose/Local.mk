# SPDX-License-Identifier: Apache-2.0

# One model of the network: from samples to the parts at fault.
noinst_LIBRARIES += validate/diagnose/libdiagnose.a
validate_diagnose_libdiagnose_a_CFLAGS = $(AM_CFLAGS) $(VECTOR_CFLAGS) -ffp-contract=off
validate_diagnose_libdiagnose_a_SOURCES = \
	validate/diagnose/diagnose.c validate/diagnose/diagnose.h \
	validate/diagnose/explanation.c validate/diagnose/explanation.h \
	validate/diagnose/likelihood.c validate/diagnose/likelihood.h \
	validate/diagnose/model.c validate/diagnose/model.h \
	validate/diagnose/next.c \
	validate/diagnose/observations.c validate/diagnose/observations.h \
	validate/diagnose/parts.c validate/diagnose/parts.h \
	validate/diagnose/screen.c \
	# end of validate_diagnose_libdiagnose_a_SOURCES
