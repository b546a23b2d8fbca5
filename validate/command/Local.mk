# SPDX-License-Identifier: Apache-2.0

# The command for administrators: one function per sub-command, in a file or, where there are
# several, a folder of its name; what looks at one node is in node/.
if BUILD_MUSTER
bin_PROGRAMS += muster
endif
muster_SOURCES = \
	validate/command/main.c validate/command/command.h \
	validate/command/jsontext.c validate/command/jsontext.h \
	validate/command/node_query.c validate/command/node_query.h \
	validate/command/node_view.c \
	validate/command/plugstack.c validate/command/plugstack.h \
	validate/command/print.c \
	validate/command/usage.c \
	validate/command/conf.c \
	validate/command/constants.c validate/command/constants.h \
	validate/command/reference.c \
	validate/command/report.c validate/command/report.h \
	validate/command/reserve.c \
	validate/command/suspects.c \
	validate/command/top.c \
	validate/command/tar.c validate/command/tar.h \
	validate/command/certificate/certificate.c validate/command/certificate/certificate.h \
	validate/command/certificate/brake.c \
	validate/command/certificate/issue.c \
	validate/command/certificate/renew.c \
	validate/command/certificate/revoke.c \
	validate/command/certificate/revoke_nodes.c \
	validate/command/compare/compare.c \
	validate/command/compare/show.c validate/command/compare/show.h \
	validate/command/doctor/doctor.c validate/command/doctor/doctor.h \
	validate/command/doctor/bundle.c \
	validate/command/doctor/cluster.c \
	validate/command/doctor/findings.c \
	validate/command/doctor/network.c \
	validate/command/doctor/node.c \
	validate/command/explain/explain.c validate/command/explain/explain.h \
	validate/command/explain/task.c \
	validate/command/history/history.c validate/command/history/history.h \
	validate/command/history/campaigns.c \
	validate/command/history/diff.c \
	validate/command/history/jobs.c \
	validate/command/history/offenders.c \
	validate/command/history/values.c \
	validate/command/history/series.c \
	validate/command/history/trends.c \
	validate/command/node/bounded_check.c validate/command/node/bounded_check.h \
	validate/command/node/bundle.c validate/command/node/bundle.h \
	validate/command/node/check.c \
	validate/command/node/gate.c \
	validate/command/node/health.c validate/command/node/health.h \
	validate/command/node/interfaces.c \
	validate/command/node/inventory.c validate/command/node/inventory.h \
	validate/command/node/published.c validate/command/node/published.h \
	validate/command/node/self_drain.c validate/command/node/self_drain.h \
	validate/command/plan/plan.c validate/command/plan/plan.h \
	validate/command/plan/json.c \
	validate/command/plan/print.c \
	validate/command/policy/policy.c validate/command/policy/policy.h \
	validate/command/policy/load.c \
	validate/command/policy/verify.c \
	validate/command/setup/setup.c validate/command/setup/setup.h \
	validate/command/setup/block.c \
	validate/command/setup/propose.c \
	validate/command/topology/topology.c \
	validate/command/topology/fabric.c validate/command/topology/fabric.h \
	validate/command/topology/neighbors.c \
	# end of muster_SOURCES
muster_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(SLURM_CFLAGS) \
	-DMUSTER_SLURMPLUGINDIR='"$(slurmplugindir)"' -DMUSTER_PKGLIBEXECDIR='"$(pkglibexecdir)"'
muster_libs = \
	validate/compare/libcompare.a \
	validate/compare/libfacts.a \
	$(libchecks) \
	validate/suspects/libsuspects.a \
	$(libplan) \
	validate/scheduling/libscheduling.a \
	$(libcluster) \
	$(libsubnet) \
	$(libhistory) \
	validate/policy/libpolicy.a \
	$(liblocalization) \
	$(libreport) \
	lib/libmuster.a lib/libstatistics.a \
	$(JANSSON_LIBS) $(SQLITE_LIBS) $(SLURM_LIBS) \
	# end of muster_libs
muster_LDADD = validate/certify/libcertify.a $(muster_libs)
