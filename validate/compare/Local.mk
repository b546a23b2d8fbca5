# SPDX-License-Identifier: Apache-2.0

# What differs between nodes; for muster compare and muster certify.
if BUILD_MUSTER
noinst_LTLIBRARIES += validate/compare/libcompare.la
endif BUILD_MUSTER
validate_compare_libcompare_la_CPPFLAGS = $(muster_CPPFLAGS)
validate_compare_libcompare_la_SOURCES = \
	validate/compare/comparison.c validate/compare/comparison.h \
	validate/compare/hints.c validate/compare/hints.h \
	# end of validate_compare_libcompare_la_SOURCES
