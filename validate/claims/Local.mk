# SPDX-License-Identifier: Apache-2.0

# What users' preflights hold against nodes.
noinst_LTLIBRARIES += validate/claims/libclaims.la
validate_claims_libclaims_la_SOURCES = \
	validate/claims/claims.c validate/claims/claims.h \
	# end of validate_claims_libclaims_la_SOURCES
validate_claims_libclaims_la_LIBADD = lib/libmuster.la
