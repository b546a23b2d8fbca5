# SPDX-License-Identifier: Apache-2.0

# What users' preflights hold against nodes.
noinst_LTLIBRARIES += validate/suspects/libsuspects.la
validate_suspects_libsuspects_la_SOURCES = \
	validate/suspects/suspect_reports.c validate/suspects/suspect_reports.h \
	# end of validate_suspects_libsuspects_la_SOURCES
validate_suspects_libsuspects_la_LIBADD = lib/libmuster.la
