# SPDX-License-Identifier: Apache-2.0

# What users' preflights hold against nodes.
noinst_LIBRARIES += validate/suspects/libsuspects.a
validate_suspects_libsuspects_a_SOURCES = \
	validate/suspects/suspect_reports.c validate/suspects/suspect_reports.h \
	# end of validate_suspects_libsuspects_a_SOURCES
