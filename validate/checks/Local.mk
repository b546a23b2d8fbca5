# SPDX-License-Identifier: Apache-2.0

# What a node can know about itself: one file per family.
noinst_LIBRARIES += validate/checks/libchecks.a
libchecks = validate/checks/libchecks.a validate/accelerator/libaccelerator.a validate/suspects/libsuspects.a \
	validate/health/libhealth.a
validate_checks_libchecks_a_SOURCES = \
	validate/checks/checks.c validate/checks/checks.h \
	validate/checks/accelerators.c validate/checks/accelerators.h \
	validate/checks/addresses.c validate/checks/addresses.h \
	validate/checks/arp.c \
	validate/checks/suspect_reports.c \
	validate/checks/clock.c \
	validate/checks/build_id.c \
	validate/checks/config.c validate/checks/facts.h \
	validate/checks/config_devices.c \
	validate/checks/config_host.c \
	validate/checks/config_software.c \
	validate/checks/evidence.c \
	validate/checks/gate.c \
	validate/checks/gpus.c \
	validate/checks/gres.c validate/checks/gres.h \
	validate/checks/gresconf.c \
	validate/checks/hosts.c \
	validate/checks/interfaces.c \
	validate/checks/jobs.c \
	validate/checks/kernel.c \
	validate/checks/held.c \
	validate/checks/limits.c \
	validate/checks/log.c \
	validate/checks/mounts.c \
	validate/checks/munge.c \
	validate/checks/pci_settings.c \
	validate/checks/rates.c \
	validate/checks/residue.c \
	validate/checks/services.c \
	validate/checks/space.c \
	validate/checks/ports.c validate/checks/ports.h \
	# end of validate_checks_libchecks_a_SOURCES
