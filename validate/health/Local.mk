# SPDX-License-Identifier: Apache-2.0

# Between certifications: the kernel log, rates of counters, what ended jobs left.
noinst_LIBRARIES += validate/health/libhealth.a
validate_health_libhealth_a_SOURCES = \
	validate/health/absences.c validate/health/absences.h \
	validate/health/deferred_drain.c validate/health/deferred_drain.h \
	validate/health/evidence.c validate/health/evidence.h \
	validate/health/job_lines.c validate/health/job_lines.h \
	validate/health/kernel_log.c validate/health/kernel_log.h \
	validate/health/kmsg.c validate/health/kmsg.h \
	validate/health/log_file.c validate/health/log_file.h \
	validate/health/onset.c validate/health/onset.h \
	validate/health/rates.c validate/health/rates.h \
	validate/health/residue.c validate/health/residue.h \
	validate/health/state_file.c validate/health/state_file.h \
	validate/health/unreviewed.c validate/health/unreviewed.h \
	# end of validate_health_libhealth_a_SOURCES
