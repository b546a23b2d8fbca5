# SPDX-License-Identifier: Apache-2.0

# Between certifications: the kernel log.
noinst_LTLIBRARIES += validate/health/libhealth.la
validate_health_libhealth_la_SOURCES = \
	validate/health/kernel_log.c validate/health/kernel_log.h \
	validate/health/kmsg.c validate/health/kmsg.h \
	validate/health/log_file.c validate/health/log_file.h \
	# end of validate_health_libhealth_la_SOURCES
