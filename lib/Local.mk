# SPDX-License-Identifier: Apache-2.0

# What a node is made of and what the site wants: libc only.
noinst_LTLIBRARIES += lib/libmuster.la
lib_libmuster_la_SOURCES = \
	lib/error.c lib/error.h \
	lib/record.c lib/record.h \
	lib/trouble.c lib/trouble.h \
	lib/hostlist.c lib/hostlist.h \
	lib/sysfs.c lib/sysfs.h \
	lib/inventory.c lib/inventory.h lib/inventory-parts.h \
	lib/machine.c lib/location.c lib/nics.c lib/rdma.c lib/addresses.c lib/gpus.c \
	lib/counters.c lib/counters.h \
	lib/fabric_class.c lib/fabric_class.h \
	lib/fabric.c lib/fabric.h lib/rails.c lib/rails.h \
	lib/affinity.c lib/affinity.h lib/affinity-share.c lib/affinity-share.h \
	lib/visible_gpus.c lib/visible_gpus.h \
	lib/envplan.c lib/envplan.h lib/envplan_parts.h lib/envplan_task.c lib/envplan_node.c \
	lib/envplan_rules.c lib/envplan_rails.c lib/envplan_site.c lib/envplan_mark.c \
	lib/islands.c lib/islands.h \
	lib/conf.c lib/conf.h lib/conf_table.h lib/conf_value.c lib/conf_site.c \
	lib/quantity.c lib/quantity.h \
	lib/netif.c lib/netif.h \
	lib/netlink.c lib/netlink.h \
	lib/netif_machine.c lib/netif_machine.h \
	lib/netif_journal.c lib/netif_journal.h \
	lib/netif_plan.c lib/netif_apply.c lib/netif_apply.h \
	lib/slurmconf.c lib/slurmconf.h lib/gresconf.c lib/gresconf.h \
	lib/device.c lib/device.h lib/stepcheck.c lib/stepcheck.h \
	lib/seal.c lib/seal.h \
	lib/fingerprint.c lib/fingerprint.h \
	lib/certificate.c lib/certificate_file.c lib/certificate.h \
	lib/failed_rails.c lib/failed_rails.h \
	# end of lib_libmuster_la_SOURCES
lib_libmuster_la_LIBADD = -ldl

# What needs libm, which the plugin must not.
noinst_LTLIBRARIES += lib/libstatistics.la
lib_libstatistics_la_SOURCES = lib/statistics.c lib/statistics.h
lib_libstatistics_la_LIBADD = -lm
