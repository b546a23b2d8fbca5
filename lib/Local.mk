# SPDX-License-Identifier: Apache-2.0

# What a node is and what the site wants: libc only. A room may use those above it in this list,
# never those below.
noinst_LIBRARIES += lib/libmuster.a
lib_libmuster_a_SOURCES =

# every test, metric and fault code, once
lib_libmuster_a_SOURCES += \
	lib/catalog/catalog.c lib/catalog/catalog.h \
	lib/catalog/fault_table.h \
	lib/catalog/kernel_event.c lib/catalog/kernel_event.h \
	lib/catalog/kernel_nvidia.h \
	lib/catalog/metric_table.h \
	lib/catalog/test_table.h \
	lib/catalog/verdict.c lib/catalog/verdict.h \
	# end

# time-outs, thresholds and costs that were chosen or measured, a table a room
lib_libmuster_a_SOURCES += \
	lib/constants/constant.h \
	lib/constants/battery_constants.h \
	lib/constants/certify_constants.h \
	lib/constants/checks_constants.h \
	lib/constants/command_constants.h \
	lib/constants/harness_constants.h \
	lib/constants/links_constants.h \
	lib/constants/model_constants.h \
	lib/constants/node_constants.h \
	lib/constants/plan_constants.h \
	lib/constants/policy_constants.h \
	lib/constants/preflight_constants.h \
	lib/constants/run_constants.h \
	lib/constants/schedule_constants.h \
	lib/constants/slurm_constants.h \
	lib/constants/trainer_constants.h \
	lib/constants/watch_constants.h \
	# end

# what every room uses: errors, lists of hosts, files of sysfs, records
lib_libmuster_a_SOURCES += \
	lib/base/address_ranges.c lib/base/address_ranges.h \
	lib/base/base_name.h \
	lib/base/bounded_child.c lib/base/bounded_child.h \
	lib/base/clock.h \
	lib/base/compare.h \
	lib/base/condition.h \
	lib/base/directory_sync.c lib/base/directory_sync.h \
	lib/base/error.c lib/base/error.h \
	lib/base/fabric_class.c lib/base/fabric_class.h \
	lib/base/grow.h \
	lib/base/hash.h \
	lib/base/splitmix.h \
	lib/base/hostlist.c lib/base/hostlist.h \
	lib/base/json_text.c lib/base/json_text.h \
	lib/base/memory_stream.c lib/base/memory_stream.h \
	lib/base/name_index.c lib/base/name_index.h \
	lib/base/node_name.c lib/base/node_name.h \
	lib/base/option_set.c lib/base/option_set.h \
	lib/base/parse_name.h \
	lib/base/path.c lib/base/path.h \
	lib/base/privileges.c lib/base/privileges.h \
	lib/base/quantity.c lib/base/quantity.h \
	lib/base/ranges.c lib/base/ranges.h \
	lib/base/read_all.c lib/base/read_all.h \
	lib/base/record.c lib/base/record.h \
	lib/base/regular_file.c lib/base/regular_file.h \
	lib/base/atomic_file.c lib/base/atomic_file.h \
	lib/base/rtnetlink.c lib/base/rtnetlink.h \
	lib/base/sha256.c lib/base/sha256.h \
	lib/base/safe_directory.c lib/base/safe_directory.h \
	lib/base/signals.h \
	lib/base/stdout_flush.c lib/base/stdout_flush.h \
	lib/base/sysfs.c lib/base/sysfs.h \
	lib/base/text.c lib/base/text.h \
	lib/base/thread_id.h \
	lib/base/deferred_error.c lib/base/deferred_error.h \
	lib/base/utf8.c lib/base/utf8.h \
	lib/base/vectorised.h \
	lib/base/write_all.c lib/base/write_all.h \
	# end

# muster.conf: what the site wants
lib_libmuster_a_SOURCES += \
	lib/conf/conf.c lib/conf/conf.h \
	lib/conf/conf_kernel.c \
	lib/conf/conf_report.c \
	lib/conf/conf_site.c \
	lib/conf/conf_table.h \
	lib/conf/conf_value.c \
	lib/conf/netif.c lib/conf/netif.h \
	# end

# Slurm's own files, as far as checks need them
lib_libmuster_a_SOURCES += \
	lib/slurm/gresconf.c lib/slurm/gresconf.h \
	lib/slurm/slurm_node_name.c lib/slurm/slurm_node_name.h \
	lib/slurm/slurmconf.c lib/slurm/slurmconf.h \
	# end

# what a node is made of, read from /sys and /proc
lib_libmuster_a_SOURCES += \
	lib/node/addresses.c \
	lib/node/addresses_live.c lib/node/addresses_live.h \
	lib/node/binding.c lib/node/binding.h \
	lib/node/counters.c lib/node/counters.h \
	lib/node/device.c lib/node/device.h \
	lib/node/gpu/amd.c \
	lib/node/gpu/files.c lib/node/gpu/files.h \
	lib/node/gpu/gaudi.c \
	lib/node/gpu/gpu_choice.c lib/node/gpu/gpu_choice.h \
	lib/node/gpu/gpus.c \
	lib/node/gpu/intel.c \
	lib/node/gpu/mig.h \
	lib/node/gpu/nvidia.c \
	lib/node/gpu/vendor.h \
	lib/node/gpu/vendors.c lib/node/gpu/vendors.h \
	lib/node/gpu/visible_gpus.c lib/node/gpu/visible_gpus.h \
	lib/node/inventory-parts.h \
	lib/node/inventory.c lib/node/inventory.h \
	lib/node/job_log.c lib/node/job_log.h \
	lib/node/location.c \
	lib/node/machine.c \
	lib/node/nics.c \
	lib/node/part_counters.c lib/node/part_counters.h \
	lib/node/rdma.c \
	lib/node/space_owner.c lib/node/space_owner.h \
	# end

# which of its ways out carry data, which of them is nearest to which GPU
lib_libmuster_a_SOURCES += \
	lib/fabric/affinity-share.c lib/fabric/affinity-share.h \
	lib/fabric/affinity.c lib/fabric/affinity.h \
	lib/fabric/fabric.c lib/fabric/fabric.h \
	lib/fabric/islands.c lib/fabric/islands.h \
	lib/fabric/rail_counters.c lib/fabric/rail_counters.h \
	lib/fabric/rails.c lib/fabric/rails.h \
	lib/fabric/unused.c \
	lib/fabric/uppers.c \
	# end

# what was found, sealed, held against what the node is now
lib_libmuster_a_SOURCES += \
	lib/certificate/brake.c lib/certificate/brake.h \
	lib/certificate/certificate.c lib/certificate/certificate.h \
	lib/certificate/certificate_file.c \
	lib/certificate/failed_rails.c lib/certificate/failed_rails.h \
	lib/certificate/fingerprint.c lib/certificate/fingerprint.h \
	lib/certificate/refused.c lib/certificate/refused.h \
	lib/certificate/seal.c lib/certificate/seal.h \
	# end

# what a task gets, sees and can open
lib_libmuster_a_SOURCES += \
	lib/envplan/envplan.c lib/envplan/envplan.h \
	lib/envplan/envplan_mark.c \
	lib/envplan/envplan_node.c \
	lib/envplan/envplan_parts.h \
	lib/envplan/envplan_rails.c \
	lib/envplan/envplan_rules.c \
	lib/envplan/envplan_site.c \
	lib/envplan/envplan_task.c \
	lib/envplan/stepcheck.c lib/envplan/stepcheck.h \
	# end

# settings of interfaces: made, noted, put back
lib_libmuster_a_SOURCES += \
	lib/netif/netif_apply.c lib/netif/netif_apply.h \
	lib/netif/netif_journal.c lib/netif/netif_journal.h \
	lib/netif/netif_machine.c lib/netif/netif_machine.h \
	lib/netif/netif_notes.c lib/netif/netif_notes.h \
	lib/netif/netif_plan.c \
	lib/netif/dcb.c lib/netif/dcb.h \
	lib/netif/netlink.c lib/netif/netlink.h \
	# end

# What needs libm, which the plugin must not.
noinst_LIBRARIES += lib/libstatistics.a
lib_libstatistics_a_SOURCES = \
	lib/base/history_figure.c lib/base/history_figure.h \
	lib/base/statistics.c lib/base/statistics.h
