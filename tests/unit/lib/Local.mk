# SPDX-License-Identifier: Apache-2.0

check_PROGRAMS += \
	tests/unit/lib/base/address_ranges.t \
	tests/unit/lib/base/atomic_file.t \
	tests/unit/lib/base/bounded_child.t \
	tests/unit/lib/base/condition.t \
	tests/unit/lib/base/deferred_error.t \
	tests/unit/lib/base/hostlist.t \
	tests/unit/lib/base/memory_stream.t \
	tests/unit/lib/base/option_set.t \
	tests/unit/lib/base/path.t \
	tests/unit/lib/base/record.t \
	tests/unit/lib/base/safe_directory.t \
	tests/unit/lib/base/sha256.t \
	tests/unit/lib/base/statistics.t \
	tests/unit/lib/base/text.t \
	tests/unit/lib/catalog/catalog.t \
	tests/unit/lib/certificate/certificate.t \
	tests/unit/lib/certificate/fingerprint.t \
	tests/unit/lib/certificate/seal.t \
	tests/unit/lib/conf/conf.t \
	tests/unit/lib/envplan/envplan.t \
	tests/unit/lib/envplan/envplan_site.t \
	tests/unit/lib/envplan/stepcheck.t \
	tests/unit/lib/fabric/affinity.t \
	tests/unit/lib/fabric/affinity_random.t \
	tests/unit/lib/fabric/fabric.t \
	tests/unit/lib/fabric/machines.t \
	tests/unit/lib/netif/netif.t \
	tests/unit/lib/netif/netif_kill.t \
	tests/unit/lib/netif/netlink.t \
	tests/unit/lib/node/addresses.t \
	tests/unit/lib/node/binding.t \
	tests/unit/lib/node/counters.t \
	tests/unit/lib/node/inventory.t \
	tests/unit/lib/node/job_log.t \
	tests/unit/lib/node/visible_gpus.t \
	tests/unit/lib/slurm/slurmconf.t \
	# end
plain_checks += tests/unit/lib/certificate/certificate.t
tests_unit_lib_base_statistics_t_LDADD = lib/libstatistics.a $(unit_libs)
tests_unit_lib_envplan_envplan_site_t_SOURCES = tests/unit/lib/envplan/envplan_site.c \
	tests/unit/lib/envplan/environment.h
tests_unit_lib_netif_netif_t_SOURCES = tests/unit/lib/netif/netif.c tests/unit/lib/netif/netif_fake.c \
	tests/unit/lib/netif/netif_fake.h
tests_unit_lib_netif_netif_kill_t_SOURCES = tests/unit/lib/netif/netif_kill.c tests/unit/lib/netif/netif_fake.c \
	tests/unit/lib/netif/netif_fake.h
tests_unit_lib_netif_netif_kill_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open -Wl,--wrap=write -Wl,--wrap=fsync \
	-Wl,--wrap=rename -Wl,--wrap=unlink
tests_unit_lib_netif_netlink_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ioctl
tests_unit_lib_slurm_slurmconf_t_LDADD = $(libchecks) $(unit_libs)

if HAVE_HWLOC
check_PROGRAMS += \
	tests/unit/lib/fabric/affinity_hwloc.t \
	# end
tests_unit_lib_fabric_affinity_hwloc_t_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_lib_fabric_affinity_hwloc_t_LDADD = $(unit_libs) $(HWLOC_LIBS)
endif HAVE_HWLOC
