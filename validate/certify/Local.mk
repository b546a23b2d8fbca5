# SPDX-License-Identifier: Apache-2.0

# `muster certify`: choose nodes, run the battery on them, judge, act. A library, so that a test can
# run the whole of it on a cluster that it makes up.
if BUILD_MUSTER
noinst_LIBRARIES += validate/certify/libcertify.a
endif BUILD_MUSTER
validate_certify_libcertify_a_CPPFLAGS = $(muster_CPPFLAGS)
validate_certify_libcertify_a_SOURCES =
muster_SOURCES += validate/certify/command.c

# a run from its beginning to its end
validate_certify_libcertify_a_SOURCES += \
	validate/certify/campaign.c validate/certify/campaign.h \
	validate/certify/certify.c validate/certify/certify.h \
	validate/certify/options.c validate/certify/options.h \
	# end of certify

# what a run knows of its nodes; nothing is asked or done here
validate_certify_libcertify_a_SOURCES += \
	validate/certify/state/budget.c validate/certify/state/budget.h \
	validate/certify/state/estimate.c validate/certify/state/estimate.h \
	validate/certify/state/outcome.c validate/certify/state/outcome.h \
	validate/certify/state/rails.c validate/certify/state/rails.h \
	validate/certify/state/run.c validate/certify/state/run.h \
	# end of state

# asks nodes, and runs programs on them
validate_certify_libcertify_a_SOURCES += \
	validate/certify/step/certify_step.c validate/certify/step/certify_step.h \
	validate/certify/step/give_back.c validate/certify/step/give_back.h \
	validate/certify/step/peers.c validate/certify/step/peers.h \
	validate/certify/step/record_source.c validate/certify/step/record_source.h \
	validate/certify/step/program_probe.c validate/certify/step/program_probe.h \
	validate/certify/step/step_setup.c validate/certify/step/step_setup.h \
	validate/certify/step/reach_nodes.c validate/certify/step/reach_nodes.h \
	# end of step

# drains and releases
validate_certify_libcertify_a_SOURCES += \
	validate/certify/settle/actions.c validate/certify/settle/actions.h \
	validate/certify/settle/alike.c validate/certify/settle/alike.h \
	# end of settle

# which nodes, and their allocation
validate_certify_libcertify_a_SOURCES += \
	validate/certify/choose/allocate.c validate/certify/choose/allocate.h \
	validate/certify/choose/changes.c validate/certify/choose/changes.h \
	validate/certify/choose/group.c validate/certify/choose/group.h \
	validate/certify/choose/idle.c validate/certify/choose/idle.h \
	validate/certify/choose/job_minutes.c validate/certify/choose/job_minutes.h \
	validate/certify/choose/job_nodes.c validate/certify/choose/job_nodes.h \
	validate/certify/choose/nodes.c validate/certify/choose/nodes.h \
	validate/certify/choose/others.c validate/certify/choose/others.h \
	validate/certify/choose/suspects.c validate/certify/choose/suspects.h \
	validate/certify/choose/turns.c validate/certify/choose/turns.h \
	# end of choose

# a file each, and what they share
validate_certify_libcertify_a_SOURCES += \
	validate/certify/stages/battery.c validate/certify/stages/battery.h \
	validate/certify/stages/certificate.c \
	validate/certify/stages/check.c \
	validate/certify/stages/collectives.c \
	validate/certify/stages/compare.c validate/certify/stages/compare.h \
	validate/certify/stages/extras.c validate/certify/stages/extras.h \
	validate/certify/stages/gpu.c \
	validate/certify/stages/decline.c validate/certify/stages/decline.h \
	validate/certify/stages/host.c \
	validate/certify/stages/launch.c \
	validate/certify/stages/neighbors.c validate/certify/stages/neighbors.h \
	validate/certify/stages/reach.c \
	validate/certify/stages/request.c validate/certify/stages/request.h \
	validate/certify/stages/retest.c validate/certify/stages/retest.h \
	validate/certify/stages/stages.c validate/certify/stages/stages.h \
	validate/certify/stages/subnet.c \
	validate/certify/stages/train.c \
	# end of stages

# what was measured of links becomes verdicts
validate_certify_libcertify_a_SOURCES += \
	validate/certify/stages/links/findings.c \
	validate/certify/stages/links/hints.c validate/certify/stages/links/hints.h \
	validate/certify/stages/links/links.c \
	validate/certify/stages/links/links_stage.h \
	validate/certify/stages/links/losses.c \
	validate/certify/stages/links/sums.c \
	# end of stages/links

# reports of the run, for people and programs
validate_certify_libcertify_a_SOURCES += \
	validate/certify/report/run_facts.c \
	validate/certify/report/run_records.c validate/certify/report/run_records.h \
	validate/certify/report/run_report.h \
	validate/certify/report/run_table.c \
	validate/certify/report/saved_reports.c \
	# end of report
