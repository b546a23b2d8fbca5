# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += tests/unit/validate/localization/fixture.h

check_PROGRAMS += \
	tests/unit/validate/accelerator/accelerator.t \
	tests/unit/validate/accelerator/kernels.t \
	tests/unit/validate/battery/amount.t \
	tests/unit/validate/battery/effort.t \
	tests/unit/validate/battery/evidence.t \
	tests/unit/validate/battery/evidence_plans.t \
	tests/unit/validate/battery/gpu_evaluate.t \
	tests/unit/validate/battery/gpu_groups.t \
	tests/unit/validate/battery/host_evaluate.t \
	tests/unit/validate/battery/host_topology.t \
	tests/unit/validate/battery/link_errors.t \
	tests/unit/validate/battery/passes.t \
	tests/unit/validate/battery/samples.t \
	tests/unit/validate/battery/segments.t \
	tests/unit/validate/battery/values.t \
	tests/unit/validate/checks/checks.t \
	tests/unit/validate/checks/jobs.t \
	tests/unit/validate/checks/mounts.t \
	tests/unit/validate/command/bounded_check.t \
	tests/unit/validate/compare/duplicates.t \
	tests/unit/validate/compare/hosts.t \
	tests/unit/validate/compare/majority.t \
	tests/unit/validate/compare/reference.t \
	tests/unit/validate/diagnose/diagnose.t \
	tests/unit/validate/harness/admission.t \
	tests/unit/validate/harness/battery_options.t \
	tests/unit/validate/harness/cpu_time.t \
	tests/unit/validate/harness/output.t \
	tests/unit/validate/harness/pattern.t \
	tests/unit/validate/harness/peers.t \
	tests/unit/validate/harness/sockets.t \
	tests/unit/validate/harness/stall.t \
	tests/unit/validate/harness/watch.t \
	tests/unit/validate/health/absences.t \
	tests/unit/validate/health/evidence_bundles.t \
	tests/unit/validate/health/kernel_log.t \
	tests/unit/validate/health/onset.t \
	tests/unit/validate/health/rates.t \
	tests/unit/validate/health/residue.t \
	tests/unit/validate/localization/links_losses.t \
	tests/unit/validate/schedule/schedule.t \
	tests/unit/validate/schedule/split.t \
	tests/unit/validate/schedule/tournament.t \
	tests/unit/validate/slurm/error_line.t \
	# end
tests_unit_validate_accelerator_accelerator_t_LDADD = validate/accelerator/libaccelerator.a $(unit_libs)
tests_unit_validate_accelerator_accelerator_t_DEPENDENCIES = $(tests_unit_validate_accelerator_accelerator_t_LDADD) \
	tests/gpu/nvml.so tests/gpu/nvml-old.so tests/gpu/amdsmi.so tests/gpu/amdsmi-old.so tests/gpu/rsmi.so \
	tests/gpu/hlml.so
tests_unit_validate_accelerator_kernels_t_LDADD = validate/accelerator/libdevice.a $(unit_libs)
tests_unit_validate_battery_amount_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_effort_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_evidence_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_evidence_plans_t_SOURCES = tests/unit/validate/battery/evidence_plans.c \
	tests/unit/collectives/plan_simulator.c tests/unit/collectives/plan_simulator.h
tests_unit_validate_battery_evidence_plans_t_LDADD = $(libbattery) $(libmustercoll) \
	$(unit_libs)
tests_unit_validate_battery_gpu_evaluate_t_LDADD = $(libgpu) $(unit_libs)
tests_unit_validate_battery_gpu_groups_t_LDADD = $(libgpu) $(unit_libs)
tests_unit_validate_battery_host_evaluate_t_LDADD = $(libhost) $(unit_libs)
tests_unit_validate_battery_host_topology_t_LDADD = $(libhost) $(unit_libs)
tests_unit_validate_battery_link_errors_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=counters_read
tests_unit_validate_battery_link_errors_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_passes_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_samples_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_segments_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_values_t_SOURCES = tests/unit/validate/battery/values.c \
	validate/battery/collectives/values.c
tests_unit_validate_battery_values_t_LDADD = $(libmustercoll) $(libharness) $(unit_libs)
tests_unit_validate_checks_checks_t_LDADD = $(libchecks) $(unit_libs)
tests_unit_validate_checks_jobs_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=geteuid,--wrap=state_file_read \
	-Wl,--wrap=state_file_write,--wrap=job_lines_attribute,--wrap=job_log_open
tests_unit_validate_checks_jobs_t_LDADD = $(libchecks) $(unit_libs)
tests_unit_validate_checks_mounts_t_LDADD = $(libchecks) $(unit_libs)
tests_unit_validate_compare_duplicates_t_LDADD = validate/compare/libfacts.a $(unit_libs) $(SQLITE_LIBS)
tests_unit_validate_compare_hosts_t_LDADD = validate/compare/libfacts.a $(unit_libs) $(SQLITE_LIBS)
tests_unit_validate_compare_majority_t_LDADD = validate/compare/libfacts.a $(unit_libs) $(SQLITE_LIBS)
tests_unit_validate_compare_reference_t_LDADD = validate/compare/libfacts.a $(unit_libs)
tests_unit_validate_diagnose_diagnose_t_LDADD = $(liblocalization) $(unit_libs)
tests_unit_validate_harness_admission_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_battery_options_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_cpu_time_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_output_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_pattern_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_peers_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_sockets_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_stall_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_harness_watch_t_LDADD = $(libharness) $(unit_libs)
tests_unit_validate_command_bounded_check_t_SOURCES = tests/unit/validate/command/bounded_check.c \
	validate/command/node/bounded_check.c
made_controller = tests/unit/validate/command/made_controller.c tests/unit/validate/command/made_controller.h
tests_unit_validate_command_doctor_t_SOURCES = tests/unit/validate/command/doctor.c \
	validate/command/doctor/findings.c validate/command/jsontext.c
tests_unit_validate_command_doctor_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_command_doctor_t_LDADD = $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_command_gate_t_SOURCES = tests/unit/validate/command/gate.c $(made_controller) \
	validate/command/node/gate.c validate/command/node/published.c validate/slurm/extra.c \
	validate/slurm/nodes.c
tests_unit_validate_command_gate_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_command_gate_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=geteuid,--wrap=getrandom,--wrap=fingerprint_node,--wrap=brake_read,--wrap=brake_write
tests_unit_validate_command_gate_t_LDADD = validate/policy/libpolicy.a $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_command_health_t_SOURCES = tests/unit/validate/command/health.c $(made_controller) \
	validate/command/node/health.c validate/command/node/published.c validate/slurm/extra.c \
	validate/slurm/nodes.c validate/slurm/revocation.c
tests_unit_validate_command_health_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_command_health_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getrandom
tests_unit_validate_command_health_t_LDADD = validate/policy/libpolicy.a $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_command_self_drain_t_SOURCES = tests/unit/validate/command/self_drain.c $(made_controller) \
	validate/command/node/published.c validate/command/node/self_drain.c validate/slurm/extra.c \
	validate/slurm/nodes.c
tests_unit_validate_command_self_drain_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_command_self_drain_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sleep,--wrap=getrandom
tests_unit_validate_command_self_drain_t_LDADD = validate/policy/libpolicy.a validate/health/libhealth.a $(unit_libs) \
	$(JANSSON_LIBS)
tests_unit_validate_health_absences_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_health_evidence_bundles_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_health_kernel_log_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_health_onset_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_health_rates_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_health_residue_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=realloc
tests_unit_validate_health_residue_t_LDADD = validate/health/libhealth.a $(unit_libs)
tests_unit_validate_localization_links_losses_t_LDADD = $(liblocalization) $(unit_libs)
tests_unit_validate_schedule_schedule_t_LDADD = validate/schedule/libschedule.a $(unit_libs)
tests_unit_validate_schedule_split_t_LDADD = validate/schedule/libschedule.a $(unit_libs)
tests_unit_validate_schedule_tournament_t_LDADD = validate/schedule/libschedule.a $(unit_libs)
tests_unit_validate_slurm_error_line_t_SOURCES = tests/unit/validate/slurm/error_line.c validate/slurm/step/error_line.c

if BUILD_MUSTER
check_PROGRAMS += \
	tests/unit/validate/certify/budget.t \
	tests/unit/validate/certify/cables.t \
	tests/unit/validate/certify/certification.t \
	tests/unit/validate/certify/extras.t \
	tests/unit/validate/certify/outcome.t \
	tests/unit/validate/certify/request.t \
	tests/unit/validate/certify/settle.t \
	tests/unit/validate/certify/step_outage.t \
	tests/unit/validate/certify/step_records.t \
	tests/unit/validate/command/compare_nodes.t \
	tests/unit/validate/command/doctor_nodes.t \
	tests/unit/validate/command/findings.t \
	tests/unit/validate/command/doctor.t \
	tests/unit/validate/command/gate.t \
	tests/unit/validate/command/health.t \
	tests/unit/validate/command/reserve_nodes.t \
	tests/unit/validate/command/revoke_nodes.t \
	tests/unit/validate/command/self_drain.t \
	tests/unit/validate/command/setup_notes.t \
	tests/unit/validate/history/campaign.t \
	tests/unit/validate/history/history.t \
	tests/unit/validate/history/node_status.t \
	tests/unit/validate/localization/links_findings.t \
	tests/unit/validate/localization/links_localization.t \
	tests/unit/validate/localization/links_losses_retest.t \
	tests/unit/validate/localization/links_sums.t \
	tests/unit/validate/plan/plan.t \
	tests/unit/validate/policy/policy_alike.t \
	tests/unit/validate/policy/policy_cap.t \
	tests/unit/validate/policy/policy_decision.t \
	tests/unit/validate/policy/policy_health.t \
	tests/unit/validate/policy/policy_idle.t \
	tests/unit/validate/policy/policy_plan.t \
	tests/unit/validate/policy/policy_quick_failures.t \
	tests/unit/validate/policy/policy_reason.t \
	tests/unit/validate/policy/policy_refusals.t \
	tests/unit/validate/policy/policy_strikes.t \
	tests/unit/validate/policy/policy_testing.t \
	tests/unit/validate/policy/policy_turn.t \
	tests/unit/validate/preflight/silent_nodes.t \
	tests/unit/validate/preflight/spares.t \
	tests/unit/validate/report/report.t \
	tests/unit/validate/report/survey.t \
	tests/unit/validate/run/examine.t \
	tests/unit/validate/run/run.t \
	tests/unit/validate/scheduling/policy_verify.t \
	tests/unit/validate/slurm/batch.t \
	tests/unit/validate/slurm/allocation.t \
	tests/unit/validate/slurm/cluster.t \
	tests/unit/validate/slurm/extra.t \
	tests/unit/validate/slurm/labels.t \
	tests/unit/validate/slurm/long_list.t \
	tests/unit/validate/slurm/munge.t \
	tests/unit/validate/slurm/own_job.t \
	tests/unit/validate/slurm/pending.t \
	tests/unit/validate/slurm/preempts.t \
	tests/unit/validate/slurm/process.t \
	tests/unit/validate/slurm/job_match.t \
	tests/unit/validate/slurm/reach.t \
	tests/unit/validate/slurm/retest.t \
	tests/unit/validate/slurm/revocation.t \
	tests/unit/validate/slurm/search_path.t \
	tests/unit/validate/slurm/undo.t \
	tests/unit/validate/subnet/subnet.t \
	tests/unit/validate/suspects/suspect_reports.t \
	tests/unit/validate/watch/job_watch.t \
	tests/unit/validate/watch/watch_report.t \
	# end
tests_unit_validate_certify_budget_t_SOURCES = tests/unit/validate/certify/budget.c validate/certify/state/budget.c
tests_unit_validate_certify_budget_t_LDADD = validate/schedule/libschedule.a $(unit_libs)
tests_unit_validate_certify_cables_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=subnet_discover,--wrap=certify_neighbors
tests_unit_validate_certify_cables_t_LDADD = validate/certify/libcertify.a $(unit_libs) $(muster_libs)
tests_unit_validate_certify_certification_t_SOURCES = tests/unit/validate/certify/certification.c \
	tests/unit/validate/certify/made_machine.c validate/command/usage.c
tests_unit_validate_certify_certification_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=geteuid,--wrap=clock_gettime \
	-Wl,--wrap=usleep,--wrap=sleep,--wrap=user_find,--wrap=access,--wrap=getrandom
tests_unit_validate_certify_certification_t_LDADD = validate/certify/libcertify.a $(unit_libs) $(muster_libs)
tests_unit_validate_certify_outcome_t_SOURCES = tests/unit/validate/certify/outcome.c \
	validate/certify/state/outcome.c
tests_unit_validate_certify_outcome_t_LDADD = lib/libstatistics.a validate/policy/libpolicy.a $(unit_libs) \
	$(SQLITE_LIBS)
tests_unit_validate_certify_request_t_SOURCES = tests/unit/validate/certify/request.c \
	validate/certify/stages/request.c
tests_unit_validate_certify_extras_t_SOURCES = tests/unit/validate/certify/extras.c \
	validate/certify/stages/extras.c validate/slurm/extra.c validate/slurm/batch.c
tests_unit_validate_certify_extras_t_LDADD = $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_certify_settle_t_SOURCES = tests/unit/validate/certify/settle.c validate/certify/settle/alike.c \
	validate/certify/state/outcome.c validate/certify/settle/actions.c validate/slurm/batch.c \
	validate/slurm/undo/journal.c validate/slurm/undo/retest.c
tests_unit_validate_certify_settle_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sleep
tests_unit_validate_certify_settle_t_LDADD = validate/policy/libpolicy.a $(unit_libs) $(SQLITE_LIBS)
tests_unit_validate_certify_step_outage_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime \
	-Wl,--wrap=certify_reach_again,--wrap=certify_drain_silent
tests_unit_validate_certify_step_outage_t_LDADD = validate/certify/libcertify.a $(unit_libs) $(muster_libs)
tests_unit_validate_certify_step_records_t_LDADD = validate/certify/libcertify.a $(unit_libs) $(muster_libs)
tests_unit_validate_command_findings_t_SOURCES = tests/unit/validate/command/findings.c \
	validate/command/doctor/findings.c validate/command/jsontext.c
tests_unit_validate_command_findings_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_command_findings_t_LDADD = $(unit_libs) $(JANSSON_LIBS)
made_cluster = tests/unit/validate/command/made_cluster.c tests/unit/validate/command/made_cluster.h
tests_unit_validate_command_compare_nodes_t_SOURCES = tests/unit/validate/command/compare_nodes.c $(made_cluster) \
	validate/command/compare/compare.c validate/command/compare/show.c validate/command/node_query.c \
	validate/command/node_view.c validate/command/usage.c
tests_unit_validate_command_compare_nodes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cluster_open,--wrap=cluster_load \
	-Wl,--wrap=step_run_on
tests_unit_validate_command_compare_nodes_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_command_doctor_nodes_t_SOURCES = tests/unit/validate/command/doctor_nodes.c $(made_cluster) \
	validate/command/doctor/cluster.c validate/command/doctor/findings.c validate/command/doctor/network.c \
	validate/command/doctor/node.c validate/command/jsontext.c validate/command/node_query.c validate/command/plugstack.c \
	validate/command/print.c
tests_unit_validate_command_doctor_nodes_t_CPPFLAGS = $(AM_CPPFLAGS) -DMUSTER_SLURMPLUGINDIR=\"/\"
tests_unit_validate_command_doctor_nodes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cluster_open,--wrap=cluster_load \
	-Wl,--wrap=reach_nodes,--wrap=step_run_on,--wrap=seal_make,--wrap=process_run,--wrap=user_find \
	-Wl,--wrap=connect,--wrap=getaddrinfo,--wrap=freeaddrinfo,--wrap=socket
tests_unit_validate_command_doctor_nodes_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_command_reserve_nodes_t_SOURCES = tests/unit/validate/command/reserve_nodes.c $(made_cluster) \
	validate/command/reserve.c validate/command/node_view.c validate/command/usage.c validate/slurm/undo/journal.c
tests_unit_validate_command_reserve_nodes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cluster_open,--wrap=cluster_load \
	-Wl,--wrap=cluster_update_waiting
tests_unit_validate_command_reserve_nodes_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_command_revoke_nodes_t_SOURCES = tests/unit/validate/command/revoke_nodes.c $(made_cluster) \
	validate/command/certificate/revoke.c validate/command/certificate/revoke_nodes.c \
	validate/command/node_query.c validate/command/node_view.c validate/command/usage.c
tests_unit_validate_command_revoke_nodes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cluster_open,--wrap=cluster_load \
	-Wl,--wrap=cluster_load_nodes,--wrap=cluster_set_comment,--wrap=step_run_on,--wrap=geteuid
tests_unit_validate_command_revoke_nodes_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_command_setup_notes_t_SOURCES = tests/unit/validate/command/setup_notes.c \
	validate/command/plugstack.c validate/command/setup/block.c validate/command/setup/propose.c \
	validate/command/setup/setup.c validate/command/node_view.c validate/command/usage.c
tests_unit_validate_command_setup_notes_t_CPPFLAGS = $(AM_CPPFLAGS) -DMUSTER_PKGLIBEXECDIR=\"/\"
tests_unit_validate_command_setup_notes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=hostlist_append
tests_unit_validate_command_setup_notes_t_LDADD = $(unit_libs)
tests_unit_validate_history_campaign_t_SOURCES = tests/unit/validate/history/campaign.c \
	validate/certify/choose/group.c
tests_unit_validate_history_campaign_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sqlite3_finalize
tests_unit_validate_history_campaign_t_LDADD = $(libhistory) lib/libstatistics.a \
	validate/policy/libpolicy.a $(libreport) $(unit_libs)
tests_unit_validate_history_history_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sqlite3_step,--wrap=read_all
tests_unit_validate_history_history_t_LDADD = $(libhistory) $(libreport) \
	lib/libstatistics.a $(unit_libs) $(SQLITE_LIBS)
tests_unit_validate_history_node_status_t_LDADD = $(libhistory) lib/libstatistics.a \
	validate/policy/libpolicy.a $(libreport) $(unit_libs)
tests_unit_validate_localization_links_findings_t_LDADD = $(liblocalization) \
	$(libreport) $(unit_libs) lib/libstatistics.a $(JANSSON_LIBS)
tests_unit_validate_localization_links_localization_t_LDADD = $(liblocalization) \
	$(libreport) $(unit_libs) lib/libstatistics.a $(JANSSON_LIBS)
tests_unit_validate_localization_links_losses_retest_t_LDADD = $(liblocalization) \
	$(libreport) $(unit_libs) lib/libstatistics.a $(JANSSON_LIBS)
tests_unit_validate_localization_links_sums_t_LDADD = $(liblocalization) $(unit_libs) \
	lib/libstatistics.a
tests_unit_validate_plan_plan_t_LDADD = $(libplan) $(unit_libs)
tests_unit_validate_policy_policy_alike_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_cap_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_decision_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_health_t_SOURCES = tests/unit/validate/policy/policy_health.c \
	validate/slurm/extra.c
tests_unit_validate_policy_policy_health_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_policy_policy_health_t_LDADD = validate/policy/libpolicy.a $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_policy_policy_idle_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_plan_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_quick_failures_t_LDADD = validate/policy/libpolicy.a lib/libstatistics.a $(unit_libs)
tests_unit_validate_policy_policy_reason_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_refusals_t_SOURCES = tests/unit/validate/policy/policy_refusals.c \
	validate/policy/refusals.c validate/slurm/extra.c
tests_unit_validate_policy_policy_refusals_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_policy_policy_refusals_t_LDADD = validate/policy/libpolicy.a $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_policy_policy_strikes_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_testing_t_SOURCES = tests/unit/validate/policy/policy_testing.c \
	validate/slurm/undo/journal.c
tests_unit_validate_policy_policy_testing_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_policy_policy_turn_t_LDADD = validate/policy/libpolicy.a $(unit_libs)
tests_unit_validate_preflight_silent_nodes_t_SOURCES = tests/unit/validate/preflight/silent_nodes.c \
	validate/preflight/preflight_run.c validate/preflight/members.c
tests_unit_validate_preflight_silent_nodes_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=reach_nodes
tests_unit_validate_preflight_silent_nodes_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_preflight_spares_t_SOURCES = tests/unit/validate/preflight/spares.c validate/preflight/spares.c
tests_unit_validate_report_report_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=strdup
tests_unit_validate_report_report_t_LDADD = $(libreport) $(unit_libs)
tests_unit_validate_report_survey_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_report_survey_t_LDADD = $(libreport) $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_run_examine_t_SOURCES = tests/unit/validate/run/examine.c validate/run/examine.c
tests_unit_validate_run_examine_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=step_add_muster
tests_unit_validate_run_examine_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_run_run_t_SOURCES = tests/unit/validate/run/run.c validate/run/decide.c validate/run/keeper.c \
	validate/run/hang.c validate/run/launch.c validate/run/layout.c validate/run/requeue.c validate/run/script.c \
	validate/slurm/step/error_line.c validate/slurm/step/long_list.c validate/slurm/step/process.c validate/slurm/step/step.c \
	validate/slurm/job/user.c
tests_unit_validate_run_run_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=execvp,--wrap=fork,--wrap=poll,--wrap=sleep \
	-Wl,--wrap=step_command
tests_unit_validate_run_run_t_LDADD = $(libreport) $(unit_libs) $(muster_libs)
tests_unit_validate_scheduling_policy_verify_t_LDADD = validate/scheduling/libscheduling.a $(unit_libs)
tests_unit_validate_slurm_allocation_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_allocation_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=slurm_allocate_resources \
	-Wl,--wrap=slurm_free_resource_allocation_response_msg,--wrap=slurm_job_node_ready,--wrap=slurm_load_job \
	-Wl,--wrap=slurm_free_job_info_msg,--wrap=cluster_show_job,--wrap=clock_gettime,--wrap=usleep,--wrap=release_job_spread
tests_unit_validate_slurm_allocation_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_slurm_batch_t_SOURCES = tests/unit/validate/slurm/batch.c validate/slurm/batch.c
tests_unit_validate_slurm_cluster_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_cluster_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=slurm_init,--wrap=slurm_update_reservation \
	-Wl,--wrap=slurm_load_node,--wrap=slurm_load_node_single,--wrap=slurm_update_node \
	-Wl,--wrap=slurm_free_node_info_msg,--wrap=process_output_status \
	-Wl,--wrap=slurm_load_reservations,--wrap=slurm_free_reservation_info_msg
tests_unit_validate_slurm_cluster_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_slurm_extra_t_SOURCES = tests/unit/validate/slurm/extra.c validate/slurm/extra.c
tests_unit_validate_slurm_extra_t_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_slurm_extra_t_LDADD = $(unit_libs) $(JANSSON_LIBS)
tests_unit_validate_slurm_labels_t_SOURCES = tests/unit/validate/slurm/labels.c validate/slurm/step/labels.c
tests_unit_validate_slurm_long_list_t_SOURCES = tests/unit/validate/slurm/long_list.c validate/slurm/step/error_line.c \
	validate/slurm/step/long_list.c validate/slurm/step/process.c validate/slurm/step/step.c validate/slurm/job/user.c
tests_unit_validate_slurm_munge_t_SOURCES = tests/unit/validate/slurm/munge.c validate/slurm/munge.c
tests_unit_validate_slurm_munge_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime,--wrap=usleep
tests_unit_validate_slurm_own_job_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_own_job_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=slurm_load_job,--wrap=slurm_free_job_info_msg \
	-Wl,--wrap=slurm_requeue2,--wrap=slurm_update_job2,--wrap=release_job_id,--wrap=release_steps_load \
	-Wl,--wrap=slurm_free_job_step_info_response_msg,--wrap=release_step_kill
tests_unit_validate_slurm_own_job_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_slurm_preempts_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_preempts_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=slurm_job_will_run2,--wrap=process_run \
	-Wl,--wrap=slurm_load_federation,--wrap=slurm_destroy_federation_rec,--wrap=slurm_load_ctl_conf \
	-Wl,--wrap=release_conf_free
tests_unit_validate_slurm_preempts_t_LDADD = $(unit_libs) $(muster_libs)
tests_unit_validate_slurm_pending_t_SOURCES = tests/unit/validate/slurm/pending.c validate/slurm/job/pending_match.c \
	validate/slurm/nodes.c validate/slurm/state.c
tests_unit_validate_slurm_pending_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_process_t_SOURCES = tests/unit/validate/slurm/process.c validate/slurm/step/error_line.c \
	validate/slurm/step/process.c validate/slurm/job/user.c
tests_unit_validate_slurm_process_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=execvp,--wrap=kill,--wrap=setpgid
tests_unit_validate_slurm_job_match_t_SOURCES = tests/unit/validate/slurm/job_match.c validate/slurm/step/error_line.c \
	validate/slurm/step/process.c validate/slurm/step/job_match.c validate/slurm/show.c validate/slurm/job/user.c
tests_unit_validate_slurm_job_match_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_reach_t_SOURCES = tests/unit/validate/slurm/reach.c validate/slurm/step/reach.c
tests_unit_validate_slurm_reach_t_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
tests_unit_validate_slurm_reach_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getaddrinfo,--wrap=fork
tests_unit_validate_slurm_retest_t_SOURCES = tests/unit/validate/slurm/retest.c validate/slurm/batch.c \
	validate/slurm/undo/journal.c validate/slurm/undo/retest.c
tests_unit_validate_slurm_revocation_t_SOURCES = tests/unit/validate/slurm/revocation.c validate/slurm/revocation.c
tests_unit_validate_slurm_search_path_t_SOURCES = tests/unit/validate/slurm/search_path.c \
	validate/slurm/step/search_path.c
tests_unit_validate_slurm_undo_t_SOURCES = tests/unit/validate/slurm/undo.c validate/slurm/batch.c \
	validate/slurm/undo/journal.c validate/slurm/revocation.c validate/slurm/undo/notes.c validate/slurm/undo/undo.c \
	validate/slurm/undo/rollback.c validate/slurm/undo/retest.c
tests_unit_validate_slurm_undo_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=flock,--wrap=fork,--wrap=write,--wrap=clock_gettime,--wrap=usleep,--wrap=fdatasync
tests_unit_validate_subnet_subnet_t_LDADD = $(libsubnet) $(unit_libs)
tests_unit_validate_suspects_suspect_reports_t_LDADD = validate/suspects/libsuspects.a $(unit_libs)
tests_unit_validate_watch_job_watch_t_SOURCES = tests/unit/validate/watch/job_watch.c validate/watch/judge.c \
	validate/watch/rails.c validate/watch/ranks.c validate/watch/window.c validate/watch/ras.c \
	validate/watch/read.c validate/watch/sample.c validate/watch/sockets.c
tests_unit_validate_watch_job_watch_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_watch_job_watch_t_LDADD = $(unit_libs) lib/libstatistics.a $(JANSSON_LIBS)
tests_unit_validate_watch_watch_report_t_SOURCES = tests/unit/validate/watch/watch_report.c validate/watch/command.c \
	validate/watch/judge.c validate/watch/rails.c validate/watch/ranks.c validate/watch/window.c validate/watch/ras.c \
	validate/watch/read.c validate/watch/sample.c validate/watch/show.c validate/watch/sockets.c \
	validate/command/node_view.c validate/command/print.c validate/command/usage.c
tests_unit_validate_watch_watch_report_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_validate_watch_watch_report_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cluster_open,--wrap=own_job_load \
	-Wl,--wrap=step_run,--wrap=clock_gettime
tests_unit_validate_watch_watch_report_t_LDADD = $(unit_libs) $(muster_libs) lib/libstatistics.a $(JANSSON_LIBS)
endif BUILD_MUSTER

if BUILD_BATTERY
check_PROGRAMS += tests/unit/validate/battery/pair_probe.t
tests_unit_validate_battery_pair_probe_t_SOURCES = tests/unit/validate/battery/pair_probe.c \
	validate/battery/links/pair/pair_probe.c validate/battery/links/path/probe.c
tests_unit_validate_battery_pair_probe_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_unit_validate_battery_pair_probe_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=probe_send,--wrap=probe_receive
check_PROGRAMS += tests/unit/validate/battery/pair_stalled.t
tests_unit_validate_battery_pair_stalled_t_SOURCES = tests/unit/validate/battery/pair_stalled.c \
	validate/battery/links/pair/overlap.c validate/battery/links/pair/pair_run.c
tests_unit_validate_battery_pair_stalled_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_unit_validate_battery_pair_stalled_t_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_validate_battery_pair_stalled_t_LDADD = $(libbattery) lib/libstatistics.a $(unit_libs)
check_PROGRAMS += tests/unit/validate/battery/kinds.t tests/unit/validate/battery/linkreport.t
tests_unit_validate_battery_kinds_t_SOURCES = tests/unit/validate/battery/kinds.c \
	validate/battery/links/report/kinds.c
tests_unit_validate_battery_kinds_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_unit_validate_battery_kinds_t_LDADD = $(libbattery) $(unit_libs)
tests_unit_validate_battery_linkreport_t_SOURCES = tests/unit/validate/battery/linkreport.c \
	validate/battery/links/report/linkreport.c validate/battery/links/report/verbsreport.c
tests_unit_validate_battery_linkreport_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_unit_validate_battery_linkreport_t_LDADD = $(libbattery) lib/libstatistics.a $(unit_libs)
endif BUILD_BATTERY

if HAVE_IBVERBS
check_PROGRAMS += \
	tests/unit/validate/battery/verbs.t \
	tests/unit/validate/battery/verbs_port.t \
	tests/unit/validate/battery/verbs_together.t \
	# end
tests_unit_validate_battery_verbs_t_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_unit_validate_battery_verbs_t_LDADD = $(libverbs) $(libbattery) \
	$(unit_libs) $(IBVERBS_LIBS)
tests_unit_validate_battery_verbs_together_t_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_unit_validate_battery_verbs_together_t_LDADD = $(libverbs) $(libbattery) \
	$(unit_libs) $(IBVERBS_LIBS)
if BUILD_BATTERY
check_PROGRAMS += tests/unit/validate/battery/verbs_pair.t
tests_unit_validate_battery_verbs_pair_t_SOURCES = tests/unit/validate/battery/verbs_pair.c \
	validate/battery/verbs/verbs_pair.c
tests_unit_validate_battery_verbs_pair_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS) $(IBVERBS_CFLAGS)
tests_unit_validate_battery_verbs_pair_t_LDADD = $(libbattery) $(unit_libs)
endif BUILD_BATTERY
tests_unit_validate_battery_verbs_port_t_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_unit_validate_battery_verbs_port_t_LDADD = $(libverbs) $(libbattery) \
	$(unit_libs) $(IBVERBS_LIBS)
endif HAVE_IBVERBS
