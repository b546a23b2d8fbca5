# SPDX-License-Identifier: Apache-2.0

# From records of links to the part at fault, by validate/diagnose; suspects are measured again.
noinst_LIBRARIES += validate/localization/liblocalization.a
liblocalization = validate/localization/liblocalization.a validate/diagnose/libdiagnose.a \
	validate/schedule/libschedule.a lib/libstatistics.a
validate_localization_liblocalization_a_SOURCES = \
	validate/localization/inconsistent.c validate/localization/inconsistent.h \
	validate/localization/links.c validate/localization/links.h \
	validate/localization/localization.c validate/localization/localization.h \
	validate/localization/misplaced.c validate/localization/misplaced.h \
	validate/localization/retest.c \
	validate/localization/self_reports.c \
	validate/localization/sums.c validate/localization/sums.h \
	# end of localization

# what the diagnosis says, in words
validate_localization_liblocalization_a_SOURCES += \
	validate/localization/findings/findings.c validate/localization/findings/findings.h \
	validate/localization/findings/builder.h \
	validate/localization/findings/rails.c \
	validate/localization/findings/evidence.c \
	validate/localization/findings/messages.c \
	# end of findings

# packets that were lost
validate_localization_liblocalization_a_SOURCES += \
	validate/localization/losses/losses.c validate/localization/losses/losses.h \
	validate/localization/losses/retest.c \
	# end of losses
