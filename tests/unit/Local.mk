# SPDX-License-Identifier: Apache-2.0

# Unit tests: each a C program that speaks TAP, named by the module it tests.
check_LTLIBRARIES += tests/unit/libtap.la
tests_unit_libtap_la_SOURCES = tests/unit/tap.c tests/unit/tap.h
tests_unit_libtap_la_LIBADD = -lm
unit_libs = tests/unit/libtap.la lib/libmuster.la

check_PROGRAMS += tests/unit/option_set.t
tests_unit_option_set_t_SOURCES = tests/unit/option_set.c
tests_unit_option_set_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/hostlist.t
tests_unit_hostlist_t_SOURCES = tests/unit/hostlist.c
tests_unit_hostlist_t_LDADD = $(unit_libs)

# the libraries of accelerators, in two versions: -rpath makes them shared (tests/gpu/README.md)
check_LTLIBRARIES += tests/gpu/nvml.la tests/gpu/nvml-old.la
gpu_stand_in_ldflags = -module -avoid-version -shared -rpath $(abs_builddir)
tests_gpu_nvml_la_SOURCES = tests/gpu/nvml.c tests/gpu/state.h
tests_gpu_nvml_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nvml_old_la_SOURCES = tests/gpu/nvml.c tests/gpu/state.h
tests_gpu_nvml_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_nvml_old_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/amdsmi.la tests/gpu/amdsmi-old.la tests/gpu/rsmi.la tests/gpu/hlml.la
tests_gpu_amdsmi_la_SOURCES = tests/gpu/amdsmi.c tests/gpu/state.h
tests_gpu_amdsmi_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_amdsmi_old_la_SOURCES = tests/gpu/amdsmi.c tests/gpu/state.h
tests_gpu_amdsmi_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_amdsmi_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_rsmi_la_SOURCES = tests/gpu/rsmi.c tests/gpu/state.h
tests_gpu_rsmi_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_hlml_la_SOURCES = tests/gpu/hlml.c tests/gpu/state.h
tests_gpu_hlml_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/cuda.la tests/gpu/cuda-old.la tests/gpu/nvrtc.la
tests_gpu_cuda_la_SOURCES = tests/gpu/cuda.c tests/gpu/state.h
tests_gpu_cuda_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cuda_la_LIBADD = -ldl
tests_gpu_cuda_old_la_SOURCES = tests/gpu/cuda.c tests/gpu/state.h
tests_gpu_cuda_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_cuda_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cuda_old_la_LIBADD = -ldl
tests_gpu_nvrtc_la_SOURCES = tests/gpu/nvrtc.c tests/gpu/state.h
tests_gpu_nvrtc_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/nccl.la tests/gpu/nccl-old.la
tests_gpu_nccl_la_SOURCES = tests/gpu/nccl.c tests/gpu/state.h
tests_gpu_nccl_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_gpu_nccl_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nccl_la_LIBADD = -lpthread -ldl
tests_gpu_nccl_old_la_SOURCES = tests/gpu/nccl.c tests/gpu/state.h
tests_gpu_nccl_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_nccl_old_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_gpu_nccl_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nccl_old_la_LIBADD = -lpthread -ldl

check_PROGRAMS += tests/unit/kernels.t
tests_unit_kernels_t_SOURCES = tests/unit/kernels.c
tests_unit_kernels_t_LDADD = validate/accelerator/libdevice.la $(unit_libs) -ldl

check_PROGRAMS += tests/unit/host_evaluate.t
tests_unit_host_evaluate_t_SOURCES = tests/unit/host_evaluate.c
tests_unit_host_evaluate_t_LDADD = validate/battery/host/libhost.la $(unit_libs)

check_PROGRAMS += tests/unit/host_topology.t
tests_unit_host_topology_t_SOURCES = tests/unit/host_topology.c
tests_unit_host_topology_t_LDADD = validate/battery/host/libhost.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/gpu_evaluate.t
tests_unit_gpu_evaluate_t_SOURCES = tests/unit/gpu_evaluate.c
tests_unit_gpu_evaluate_t_LDADD = validate/battery/gpu/libgpu.la $(unit_libs)

check_PROGRAMS += tests/unit/gpu_groups.t
tests_unit_gpu_groups_t_SOURCES = tests/unit/gpu_groups.c
tests_unit_gpu_groups_t_LDADD = validate/battery/gpu/libgpu.la $(unit_libs)

check_PROGRAMS += tests/unit/accelerator.t
tests_unit_accelerator_t_SOURCES = tests/unit/accelerator.c
tests_unit_accelerator_t_LDADD = validate/accelerator/libaccelerator.la $(unit_libs)
tests_unit_accelerator_t_DEPENDENCIES = $(tests_unit_accelerator_t_LDADD) \
	tests/gpu/nvml.la tests/gpu/nvml-old.la \
	tests/gpu/amdsmi.la tests/gpu/amdsmi-old.la tests/gpu/rsmi.la tests/gpu/hlml.la

check_PROGRAMS += tests/unit/job_log.t
tests_unit_job_log_t_SOURCES = tests/unit/job_log.c
tests_unit_job_log_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/absences.t
tests_unit_absences_t_SOURCES = tests/unit/absences.c
tests_unit_absences_t_LDADD = validate/health/libhealth.la $(unit_libs)

check_PROGRAMS += tests/unit/evidence_bundles.t
tests_unit_evidence_bundles_t_SOURCES = tests/unit/evidence_bundles.c
tests_unit_evidence_bundles_t_LDADD = validate/health/libhealth.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/rates.t
tests_unit_rates_t_SOURCES = tests/unit/rates.c
tests_unit_rates_t_LDADD = validate/health/libhealth.la $(unit_libs)

check_PROGRAMS += tests/unit/residue.t
tests_unit_residue_t_SOURCES = tests/unit/residue.c
tests_unit_residue_t_LDADD = validate/health/libhealth.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/kernel_log.t
tests_unit_kernel_log_t_SOURCES = tests/unit/kernel_log.c
tests_unit_kernel_log_t_LDADD = validate/health/libhealth.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/catalog.t
tests_unit_catalog_t_SOURCES = tests/unit/catalog.c
tests_unit_catalog_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/complaint.t
tests_unit_complaint_t_SOURCES = tests/unit/complaint.c \
	validate/slurm/complaint.c validate/slurm/complaint.h
tests_unit_complaint_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/text.t
tests_unit_text_t_SOURCES = tests/unit/text.c
tests_unit_text_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/atomic_file.t
tests_unit_atomic_file_t_SOURCES = tests/unit/atomic_file.c
tests_unit_atomic_file_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/record.t
tests_unit_record_t_SOURCES = tests/unit/record.c
tests_unit_record_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/segments.t
tests_unit_segments_t_SOURCES = tests/unit/segments.c
tests_unit_segments_t_LDADD = validate/battery/libbattery.la $(unit_libs)

check_PROGRAMS += tests/unit/link_errors.t
tests_unit_link_errors_t_SOURCES = tests/unit/link_errors.c
tests_unit_link_errors_t_LDADD = tests/unit/libtree.la validate/battery/libbattery.la $(unit_libs)

check_PROGRAMS += tests/unit/links_losses_retest.t
tests_unit_links_losses_retest_t_SOURCES = tests/unit/links_losses_retest.c
tests_unit_links_losses_retest_t_LDADD = validate/localization/liblocalization.la validate/report/libreport.la \
	$(unit_libs) lib/libstatistics.la $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/links_losses.t
tests_unit_links_losses_t_SOURCES = tests/unit/links_losses.c
tests_unit_links_losses_t_LDADD = validate/localization/liblocalization.la $(unit_libs)

check_PROGRAMS += tests/unit/reference.t
tests_unit_reference_t_SOURCES = tests/unit/reference.c
tests_unit_reference_t_LDADD = validate/compare/libfacts.la $(unit_libs)

check_PROGRAMS += tests/unit/subnet.t
tests_unit_subnet_t_SOURCES = tests/unit/subnet.c
tests_unit_subnet_t_LDADD = validate/subnet/libsubnet.la $(unit_libs)

check_PROGRAMS += tests/unit/hosts.t
tests_unit_hosts_t_SOURCES = tests/unit/hosts.c
tests_unit_hosts_t_LDADD = validate/compare/libfacts.la $(unit_libs) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/duplicates.t
tests_unit_duplicates_t_SOURCES = tests/unit/duplicates.c
tests_unit_duplicates_t_LDADD = validate/compare/libfacts.la $(unit_libs) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/majority.t
tests_unit_majority_t_SOURCES = tests/unit/majority.c
tests_unit_majority_t_LDADD = validate/compare/libfacts.la $(unit_libs) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/conf.t
tests_unit_conf_t_SOURCES = tests/unit/conf.c
tests_unit_conf_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/netif.t
tests_unit_netif_t_SOURCES = tests/unit/netif.c tests/unit/netif_fake.c tests/unit/netif_fake.h
tests_unit_netif_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/netif_kill.t
tests_unit_netif_kill_t_SOURCES = tests/unit/netif_kill.c \
	tests/unit/netif_fake.c tests/unit/netif_fake.h
tests_unit_netif_kill_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open -Wl,--wrap=write \
	-Wl,--wrap=fsync -Wl,--wrap=rename -Wl,--wrap=unlink
tests_unit_netif_kill_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/addresses.t
tests_unit_addresses_t_SOURCES = tests/unit/addresses.c
tests_unit_addresses_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/netlink.t
tests_unit_netlink_t_SOURCES = tests/unit/netlink.c
tests_unit_netlink_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ioctl
tests_unit_netlink_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/envplan.t
tests_unit_envplan_t_SOURCES = tests/unit/envplan.c
tests_unit_envplan_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/envplan_site.t
tests_unit_envplan_site_t_SOURCES = tests/unit/envplan_site.c tests/unit/environment.h
tests_unit_envplan_site_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/seal.t
tests_unit_seal_t_SOURCES = tests/unit/seal.c
tests_unit_seal_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/fingerprint.t
tests_unit_fingerprint_t_SOURCES = tests/unit/fingerprint.c
tests_unit_fingerprint_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/certificate.t
tests_unit_certificate_t_SOURCES = tests/unit/certificate.c
tests_unit_certificate_t_LDADD = $(unit_libs)

# Trees of files, for the tests of what reads /sys and /proc
check_LTLIBRARIES += tests/unit/libtree.la
tests_unit_libtree_la_SOURCES = tests/unit/tree.c tests/unit/tree.h
EXTRA_DIST += \
	tests/fixtures/README.md \
	tests/fixtures/ras/behind.json \
	tests/fixtures/ras/behind.txt \
	tests/fixtures/ras/missing.json \
	tests/fixtures/ras/missing.txt \
	tests/fixtures/aurora.tree \
	tests/fixtures/bond.tree \
	tests/fixtures/broken.tree \
	tests/fixtures/dgx-h100-gpu-gone.tree \
	tests/fixtures/dgx-h100-half-width.tree \
	tests/fixtures/dgx-h100-nic-missing.tree \
	tests/fixtures/dgx-h100-port-down.tree \
	tests/fixtures/dgx-h100.tree \
	tests/fixtures/dual-port.tree \
	tests/fixtures/ethernet.tree \
	tests/fixtures/gaudi3.tree \
	tests/fixtures/gcp-vm.tree \
	tests/fixtures/h100-ib.tree \
	tests/fixtures/hgx-a100.tree \
	tests/fixtures/kvm-passthrough.tree \
	tests/fixtures/lab-node.tree \
	tests/fixtures/mi300x-mixed-gids.tree \
	tests/fixtures/mi300x-roce.tree \
	tests/fixtures/mi300x.tree \
	tests/fixtures/nd-a100-v4.tree \
	tests/fixtures/nd-h100-v5.tree \
	tests/fixtures/p4d.tree \
	tests/fixtures/rxe-pair.tree \
	tests/fixtures/slingshot.tree \
	tests/fixtures/two-fabrics.tree \
	tests/fixtures/vela.tree \
	tests/fixtures/compose \
	tests/fixtures/record \
	tests/fixtures/unpack \
	# end of EXTRA_DIST

check_PROGRAMS += tests/unit/condition.t
tests_unit_condition_t_SOURCES = tests/unit/condition.c
tests_unit_condition_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/deferred_error.t
tests_unit_deferred_error_t_SOURCES = tests/unit/deferred_error.c
tests_unit_deferred_error_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/inventory.t
tests_unit_inventory_t_SOURCES = tests/unit/inventory.c
tests_unit_inventory_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/machines.t
tests_unit_machines_t_SOURCES = tests/unit/machines.c
tests_unit_machines_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/counters.t
tests_unit_counters_t_SOURCES = tests/unit/counters.c
tests_unit_counters_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/fabric.t
tests_unit_fabric_t_SOURCES = tests/unit/fabric.c
tests_unit_fabric_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/affinity.t
tests_unit_affinity_t_SOURCES = tests/unit/affinity.c
tests_unit_affinity_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/visible_gpus.t
tests_unit_visible_gpus_t_SOURCES = tests/unit/visible_gpus.c
tests_unit_visible_gpus_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/affinity_random.t
tests_unit_affinity_random_t_SOURCES = tests/unit/affinity_random.c
tests_unit_affinity_random_t_LDADD = $(unit_libs)

if HAVE_HWLOC
check_PROGRAMS += tests/unit/affinity_hwloc.t
tests_unit_affinity_hwloc_t_SOURCES = tests/unit/affinity_hwloc.c
tests_unit_affinity_hwloc_t_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_affinity_hwloc_t_LDADD = tests/unit/libtree.la $(unit_libs) $(HWLOC_LIBS)
endif HAVE_HWLOC

check_PROGRAMS += tests/unit/binding.t
tests_unit_binding_t_SOURCES = tests/unit/binding.c
tests_unit_binding_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/stepcheck.t
tests_unit_stepcheck_t_SOURCES = tests/unit/stepcheck.c
tests_unit_stepcheck_t_LDADD = tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/checks.t
tests_unit_checks_t_SOURCES = tests/unit/checks.c
tests_unit_checks_t_LDADD = validate/checks/libchecks.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/mounts.t
tests_unit_mounts_t_SOURCES = tests/unit/mounts.c
tests_unit_mounts_t_LDADD = validate/checks/libchecks.la tests/unit/libtree.la $(unit_libs)

check_PROGRAMS += tests/unit/slurmconf.t
tests_unit_slurmconf_t_SOURCES = tests/unit/slurmconf.c
tests_unit_slurmconf_t_LDADD = validate/checks/libchecks.la tests/unit/libtree.la $(unit_libs)

# battery
check_PROGRAMS += tests/unit/tournament.t
tests_unit_tournament_t_SOURCES = tests/unit/tournament.c
tests_unit_tournament_t_LDADD = validate/schedule/libschedule.la $(unit_libs)

check_PROGRAMS += tests/unit/split.t
tests_unit_split_t_SOURCES = tests/unit/split.c
tests_unit_split_t_LDADD = validate/schedule/libschedule.la $(unit_libs)

check_PROGRAMS += tests/unit/diagnose.t
tests_unit_diagnose_t_SOURCES = tests/unit/diagnose.c
tests_unit_diagnose_t_LDADD = validate/diagnose/libdiagnose.la $(unit_libs)

check_PROGRAMS += tests/unit/schedule.t
tests_unit_schedule_t_SOURCES = tests/unit/schedule.c
tests_unit_schedule_t_LDADD = validate/schedule/libschedule.la $(unit_libs)

check_PROGRAMS += tests/unit/pattern.t
tests_unit_pattern_t_SOURCES = tests/unit/pattern.c
tests_unit_pattern_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/bounded_child.t
tests_unit_bounded_child_t_SOURCES = tests/unit/bounded_child.c
tests_unit_bounded_child_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/sha256.t
tests_unit_sha256_t_SOURCES = tests/unit/sha256.c
tests_unit_sha256_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/address_ranges.t
tests_unit_address_ranges_t_SOURCES = tests/unit/address_ranges.c
tests_unit_address_ranges_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/peers.t
tests_unit_peers_t_SOURCES = tests/unit/peers.c
tests_unit_peers_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread -ldl

check_PROGRAMS += tests/unit/admission.t
tests_unit_admission_t_SOURCES = tests/unit/admission.c
tests_unit_admission_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/cpu_time.t
tests_unit_cpu_time_t_SOURCES = tests/unit/cpu_time.c
tests_unit_cpu_time_t_LDADD = tests/unit/libtree.la validate/harness/libharness.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/stall.t
tests_unit_stall_t_SOURCES = tests/unit/stall.c
tests_unit_stall_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread -lm

check_PROGRAMS += tests/unit/battery_options.t
tests_unit_battery_options_t_SOURCES = tests/unit/battery_options.c
tests_unit_battery_options_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/values.t
tests_unit_values_t_SOURCES = tests/unit/values.c
tests_unit_values_t_LDADD = validate/battery/libbattery.la $(unit_libs) -lpthread -lm

check_PROGRAMS += tests/unit/evidence.t
tests_unit_evidence_t_SOURCES = tests/unit/evidence.c
tests_unit_evidence_t_LDADD = validate/battery/libbattery.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/effort.t
tests_unit_effort_t_SOURCES = tests/unit/effort.c
tests_unit_effort_t_LDADD = validate/battery/libbattery.la $(unit_libs)
check_PROGRAMS += tests/unit/amount.t
tests_unit_amount_t_SOURCES = tests/unit/amount.c
tests_unit_amount_t_LDADD = validate/battery/libbattery.la $(unit_libs)

check_PROGRAMS += tests/unit/samples.t
tests_unit_samples_t_SOURCES = tests/unit/samples.c
tests_unit_samples_t_LDADD = validate/battery/libbattery.la $(unit_libs)

check_PROGRAMS += tests/unit/passes.t
tests_unit_passes_t_SOURCES = tests/unit/passes.c
tests_unit_passes_t_LDADD = validate/battery/libbattery.la $(unit_libs)

if HAVE_IBVERBS
check_PROGRAMS += tests/unit/verbs.t
tests_unit_verbs_t_SOURCES = tests/unit/verbs.c
tests_unit_verbs_t_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_unit_verbs_t_LDADD = validate/battery/verbs/libverbs.la validate/battery/libbattery.la $(unit_libs) \
	$(IBVERBS_LIBS)

check_PROGRAMS += tests/unit/verbs_port.t
tests_unit_verbs_port_t_SOURCES = tests/unit/verbs_port.c
tests_unit_verbs_port_t_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_unit_verbs_port_t_LDADD = tests/unit/libtree.la validate/battery/verbs/libverbs.la \
	validate/battery/libbattery.la $(unit_libs) $(IBVERBS_LIBS)
endif HAVE_IBVERBS

check_PROGRAMS += tests/unit/watch.t
tests_unit_watch_t_SOURCES = tests/unit/watch.c
tests_unit_watch_t_LDADD = validate/harness/libharness.la $(unit_libs) -lpthread

check_PROGRAMS += tests/unit/statistics.t
tests_unit_statistics_t_SOURCES = tests/unit/statistics.c
tests_unit_statistics_t_LDADD = lib/libstatistics.la $(unit_libs)

# The pure and the local parts of muster certify
if BUILD_MUSTER
check_PROGRAMS += tests/unit/cluster.t
tests_unit_cluster_t_SOURCES = tests/unit/cluster.c validate/slurm/nodes.c validate/slurm/state.c
tests_unit_cluster_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_cluster_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/pending.t
tests_unit_pending_t_SOURCES = tests/unit/pending.c validate/slurm/pending_for.c \
	validate/slurm/nodes.c validate/slurm/state.c
tests_unit_pending_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_pending_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/policy_plan.t
tests_unit_policy_plan_t_SOURCES = tests/unit/policy_plan.c
tests_unit_policy_plan_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_reason.t
tests_unit_policy_reason_t_SOURCES = tests/unit/policy_reason.c
tests_unit_policy_reason_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_alike.t
tests_unit_policy_alike_t_SOURCES = tests/unit/policy_alike.c
tests_unit_policy_alike_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/plan.t
tests_unit_plan_t_SOURCES = tests/unit/plan.c
tests_unit_plan_t_LDADD = validate/plan/libplan.la $(unit_libs) -lm

check_PROGRAMS += tests/unit/policy_verify.t
tests_unit_policy_verify_t_SOURCES = tests/unit/policy_verify.c
tests_unit_policy_verify_t_LDADD = validate/scheduling/libscheduling.la $(unit_libs) -lm

check_PROGRAMS += tests/unit/job_watch.t
tests_unit_job_watch_t_SOURCES = tests/unit/job_watch.c \
	validate/watch/judge.c validate/watch/judge.h validate/watch/judge_parts.h \
	validate/watch/rails.c \
	validate/watch/ranks.c \
	validate/watch/window.c \
	validate/watch/ras.c validate/watch/ras.h \
	validate/watch/read.c validate/watch/read.h \
	validate/watch/sample.c validate/watch/sample.h
tests_unit_job_watch_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_job_watch_t_LDADD = tests/unit/libtree.la $(unit_libs) lib/libstatistics.la $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/run.t
tests_unit_run_t_SOURCES = tests/unit/run.c \
	validate/run/decide.c validate/run/decide.h \
	validate/run/launch.c validate/run/launch.h \
	validate/run/layout.c validate/run/layout.h \
	validate/run/script.c validate/run/script.h \
	validate/slurm/complaint.c validate/slurm/complaint.h \
	validate/slurm/process.c validate/slurm/process.h \
	validate/slurm/user.c validate/slurm/user.h
tests_unit_run_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/policy_cap.t
tests_unit_policy_cap_t_SOURCES = tests/unit/policy_cap.c
tests_unit_policy_cap_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_strikes.t
tests_unit_policy_strikes_t_SOURCES = tests/unit/policy_strikes.c
tests_unit_policy_strikes_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_decision.t
tests_unit_policy_decision_t_SOURCES = tests/unit/policy_decision.c
tests_unit_policy_decision_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_turn.t
tests_unit_policy_turn_t_SOURCES = tests/unit/policy_turn.c
tests_unit_policy_turn_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_idle.t
tests_unit_policy_idle_t_SOURCES = tests/unit/policy_idle.c
tests_unit_policy_idle_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_testing.t
tests_unit_policy_testing_t_SOURCES = tests/unit/policy_testing.c
tests_unit_policy_testing_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/policy_refusals.t
tests_unit_policy_refusals_t_SOURCES = tests/unit/policy_refusals.c \
	validate/policy/refusals.c validate/policy/refusals.h \
	validate/slurm/extra.c validate/slurm/extra.h
tests_unit_policy_refusals_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_policy_refusals_t_LDADD = validate/policy/libpolicy.la $(unit_libs) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/policy_health.t
tests_unit_policy_health_t_SOURCES = tests/unit/policy_health.c
tests_unit_policy_health_t_LDADD = validate/policy/libpolicy.la $(unit_libs)

check_PROGRAMS += tests/unit/node_status.t
tests_unit_node_status_t_SOURCES = tests/unit/node_status.c
tests_unit_node_status_t_LDADD = validate/history/libhistory.la lib/libstatistics.la \
	validate/policy/libpolicy.la validate/report/libreport.la $(unit_libs)

check_PROGRAMS += tests/unit/campaign.t
tests_unit_campaign_t_SOURCES = tests/unit/campaign.c \
	validate/certify/choose/group.c validate/certify/choose/group.h
tests_unit_campaign_t_LDADD = validate/history/libhistory.la lib/libstatistics.la \
	validate/policy/libpolicy.la validate/report/libreport.la $(unit_libs)

check_PROGRAMS += tests/unit/outcome.t
tests_unit_outcome_t_SOURCES = tests/unit/outcome.c \
	validate/certify/state/outcome.c validate/certify/state/outcome.h
tests_unit_outcome_t_LDADD = lib/libstatistics.la validate/policy/libpolicy.la $(unit_libs) \
	$(SQLITE_LIBS)

check_PROGRAMS += tests/unit/settle.t
tests_unit_settle_t_SOURCES = tests/unit/settle.c \
	validate/certify/settle/alike.c validate/certify/state/outcome.c validate/certify/state/outcome.h \
	validate/certify/settle/actions.c validate/slurm/batch.c validate/slurm/batch.h \
	validate/slurm/retest.c validate/slurm/retest.h
tests_unit_settle_t_LDADD = validate/policy/libpolicy.la $(unit_libs) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/certification.t
tests_unit_certification_t_SOURCES = tests/unit/certification.c
tests_unit_certification_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=geteuid,--wrap=clock_gettime \
	-Wl,--wrap=usleep,--wrap=sleep,--wrap=user_find,--wrap=access
tests_unit_certification_t_LDADD = validate/certify/libcertify.la $(unit_libs) $(muster_libs)

check_PROGRAMS += tests/unit/request.t
tests_unit_request_t_SOURCES = tests/unit/request.c \
	validate/certify/stages/request.c validate/certify/stages/request.h
tests_unit_request_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/budget.t
tests_unit_budget_t_SOURCES = tests/unit/budget.c \
	validate/certify/state/budget.c validate/certify/state/budget.h
tests_unit_budget_t_LDADD = validate/schedule/libschedule.la $(unit_libs)

check_PROGRAMS += tests/unit/spares.t
tests_unit_spares_t_SOURCES = tests/unit/spares.c \
	validate/preflight/spares.c validate/preflight/preflight.h
tests_unit_spares_t_LDADD = $(unit_libs) -lm

check_PROGRAMS += tests/unit/suspect_reports.t
tests_unit_suspect_reports_t_SOURCES = tests/unit/suspect_reports.c
tests_unit_suspect_reports_t_LDADD = validate/suspects/libsuspects.la $(unit_libs)

check_PROGRAMS += tests/unit/extra.t
tests_unit_extra_t_SOURCES = tests/unit/extra.c \
	validate/slurm/extra.c validate/slurm/extra.h
tests_unit_extra_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_extra_t_LDADD = $(unit_libs) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/report.t
tests_unit_report_t_SOURCES = tests/unit/report.c
tests_unit_report_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=strdup
tests_unit_report_t_LDADD = validate/report/libreport.la $(unit_libs)

check_PROGRAMS += tests/unit/links_findings.t
tests_unit_links_findings_t_SOURCES = tests/unit/links_findings.c
tests_unit_links_findings_t_LDADD = validate/localization/liblocalization.la validate/report/libreport.la \
	$(unit_libs) lib/libstatistics.la $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/links_localization.t
tests_unit_links_localization_t_SOURCES = tests/unit/links_localization.c
tests_unit_links_localization_t_LDADD = validate/localization/liblocalization.la validate/report/libreport.la \
	$(unit_libs) lib/libstatistics.la $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/links_sums.t
tests_unit_links_sums_t_SOURCES = tests/unit/links_sums.c
tests_unit_links_sums_t_LDADD = validate/localization/liblocalization.la $(unit_libs) lib/libstatistics.la -lm

check_PROGRAMS += tests/unit/survey.t
tests_unit_survey_t_SOURCES = tests/unit/survey.c
tests_unit_survey_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_survey_t_LDADD = validate/report/libreport.la $(unit_libs) $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/labels.t
tests_unit_labels_t_SOURCES = tests/unit/labels.c validate/slurm/labels.c validate/slurm/labels.h
tests_unit_labels_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/undo.t
tests_unit_undo_t_SOURCES = tests/unit/undo.c validate/slurm/batch.c validate/slurm/batch.h \
	validate/slurm/journal.c validate/slurm/journal.h \
	validate/slurm/revocation.c validate/slurm/revocation.h \
	validate/slurm/undo.c validate/slurm/undo.h validate/slurm/retest.c validate/slurm/retest.h
tests_unit_undo_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=flock,--wrap=fork,--wrap=write
tests_unit_undo_t_LDADD = $(unit_libs) -lm

check_PROGRAMS += tests/unit/munge.t
tests_unit_munge_t_SOURCES = tests/unit/munge.c validate/slurm/munge.c validate/slurm/munge.h
tests_unit_munge_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=usleep
tests_unit_munge_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/batch.t
tests_unit_batch_t_SOURCES = tests/unit/batch.c validate/slurm/batch.c validate/slurm/batch.h
tests_unit_batch_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/retest.t
tests_unit_retest_t_SOURCES = tests/unit/retest.c validate/slurm/batch.c validate/slurm/batch.h \
	validate/slurm/retest.c validate/slurm/retest.h
tests_unit_retest_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/revocation.t
tests_unit_revocation_t_SOURCES = tests/unit/revocation.c \
	validate/slurm/revocation.c validate/slurm/revocation.h
tests_unit_revocation_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/process.t
tests_unit_process_t_SOURCES = tests/unit/process.c \
	validate/slurm/complaint.c validate/slurm/complaint.h \
	validate/slurm/process.c validate/slurm/process.h \
	validate/slurm/user.c validate/slurm/user.h
tests_unit_process_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/long_list.t
tests_unit_long_list_t_SOURCES = tests/unit/long_list.c \
	validate/slurm/complaint.c validate/slurm/complaint.h \
	validate/slurm/long_list.c validate/slurm/long_list.h \
	validate/slurm/process.c validate/slurm/process.h \
	validate/slurm/step.c validate/slurm/step.h \
	validate/slurm/user.c validate/slurm/user.h
tests_unit_long_list_t_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/history.t
tests_unit_history_t_SOURCES = tests/unit/history.c
tests_unit_history_t_LDADD = validate/history/libhistory.la validate/report/libreport.la \
	lib/libstatistics.la $(unit_libs) $(SQLITE_LIBS)
endif BUILD_MUSTER

if BUILD_TRAINER
check_PROGRAMS += tests/unit/trainer.t
tests_unit_trainer_t_SOURCES = tests/unit/trainer.c
tests_unit_trainer_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_trainer_t_LDADD = trainer/libtrainer.la $(unit_libs)

check_PROGRAMS += tests/unit/trainer-double.t
tests_unit_trainer_double_t_SOURCES = tests/unit/trainer.c
tests_unit_trainer_double_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_double_t_CPPFLAGS = $(trainer_cppflags) -DMUSTER_REAL_DOUBLE
tests_unit_trainer_double_t_LDADD = trainer/libtrainer-double.la $(unit_libs)

check_PROGRAMS += tests/unit/dataset.t
tests_unit_dataset_t_SOURCES = tests/unit/dataset.c
tests_unit_dataset_t_LDADD = trainer/libtrainer.la $(unit_libs)

check_PROGRAMS += tests/unit/pipeline.t
tests_unit_pipeline_t_SOURCES = tests/unit/pipeline.c
tests_unit_pipeline_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_pipeline_t_LDADD = trainer/libtrainer.la $(unit_libs)

check_PROGRAMS += tests/unit/checkpoint.t
tests_unit_checkpoint_t_SOURCES = tests/unit/checkpoint.c
tests_unit_checkpoint_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_checkpoint_t_LDADD = trainer/libtrainer.la $(unit_libs)

check_PROGRAMS += tests/unit/bf16.t
tests_unit_bf16_t_SOURCES = tests/unit/bf16.c
tests_unit_bf16_t_CFLAGS = $(trainer_cflags)
tests_unit_bf16_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_bf16_t_LDADD = trainer/libtrainer.la $(unit_libs)

check_PROGRAMS += tests/unit/compute.t
tests_unit_compute_t_SOURCES = tests/unit/compute.c
tests_unit_compute_t_CFLAGS = $(trainer_cflags)
tests_unit_compute_t_LDADD = trainer/libtrainer.la $(unit_libs)
endif

# libmustercoll
check_PROGRAMS += tests/unit/codec.t
tests_unit_codec_t_SOURCES = tests/unit/codec.c tests/unit/gradients.c tests/unit/gradients.h
tests_unit_codec_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm -lpthread

check_PROGRAMS += tests/unit/codec_hostile.t
tests_unit_codec_hostile_t_SOURCES = tests/unit/codec_hostile.c \
	tests/unit/gradients.c tests/unit/gradients.h
tests_unit_codec_hostile_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm
EXTRA_DIST += tests/unit/fuzz-codec

check_PROGRAMS += tests/unit/reduce.t
tests_unit_reduce_t_SOURCES = tests/unit/reduce.c
tests_unit_reduce_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm

check_PROGRAMS += tests/unit/choose.t
tests_unit_choose_t_SOURCES = tests/unit/choose.c
tests_unit_choose_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm

check_PROGRAMS += tests/unit/algorithms.t
tests_unit_algorithms_t_SOURCES = tests/unit/algorithms.c \
	tests/unit/plan_simulator.c tests/unit/plan_simulator.h
tests_unit_algorithms_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm
plain_checks += tests/unit/algorithms.t

check_PROGRAMS += tests/unit/evidence_plans.t
tests_unit_evidence_plans_t_SOURCES = tests/unit/evidence_plans.c \
	tests/unit/plan_simulator.c tests/unit/plan_simulator.h
tests_unit_evidence_plans_t_LDADD = validate/battery/libbattery.la collectives/libmustercoll.la \
	$(unit_libs) -lpthread -lm

check_PROGRAMS += tests/unit/precision.t
tests_unit_precision_t_SOURCES = tests/unit/precision.c \
	tests/unit/gradients.c tests/unit/gradients.h
tests_unit_precision_t_LDADD = collectives/libmustercoll.la $(unit_libs) -lm

# files for tests of muster-codec
noinst_PROGRAMS += tests/unit/gradients
tests_unit_gradients_SOURCES = tests/unit/gradients_write.c \
	tests/unit/gradients.c tests/unit/gradients.h
tests_unit_gradients_LDADD = collectives/libmustercoll.la -lm
