# SPDX-License-Identifier: Apache-2.0

# What differs between nodes; for muster compare and muster certify.
if BUILD_MUSTER
noinst_LIBRARIES += validate/compare/libcompare.a
endif BUILD_MUSTER
validate_compare_libcompare_a_CPPFLAGS = $(muster_CPPFLAGS)
validate_compare_libcompare_a_SOURCES = \
	validate/compare/comparison.c validate/compare/comparison.h \
	validate/compare/hints.c validate/compare/hints.h \
	# end of validate_compare_libcompare_a_SOURCES

# what nodes are and have, held against each other: pure
noinst_LIBRARIES += validate/compare/libfacts.a
validate_compare_libfacts_a_SOURCES = \
	validate/compare/facts/duplicates.c validate/compare/facts/duplicates.h \
	validate/compare/facts/facts.c validate/compare/facts/facts.h \
	validate/compare/facts/golden.c validate/compare/facts/golden.h \
	validate/compare/facts/groups.c validate/compare/facts/groups.h \
	validate/compare/facts/hosts.c validate/compare/facts/hosts.h \
	validate/compare/facts/majority.c validate/compare/facts/majority.h \
	validate/compare/facts/severity.c \
	validate/compare/reference.c validate/compare/reference.h \
	# end of validate_compare_libfacts_a_SOURCES
