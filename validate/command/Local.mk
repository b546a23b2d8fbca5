# SPDX-License-Identifier: Apache-2.0

# The command for administrators: one file per sub-command.
if BUILD_MUSTER
bin_PROGRAMS += muster
endif
muster_SOURCES = \
	validate/command/main.c validate/command/command.h \
	validate/command/common.c \
	validate/command/check.c \
	validate/command/check_health.c validate/command/check_health.h \
	validate/command/claim.c \
	validate/command/inventory.c \
	validate/command/interfaces.c \
	validate/command/certificate.c validate/command/certificate.h \
	validate/command/certificate_issue.c \
	validate/command/reserve.c \
	validate/command/revoke.c \
	validate/command/revoke_nodes.c \
	validate/command/conf.c \
	validate/command/explain.c validate/command/explain.h \
	validate/command/explain_task.c \
	validate/command/history.c validate/command/history.h \
	validate/command/history_diff.c \
	validate/command/history_series.c \
	validate/command/history_trends.c \
	validate/command/reference.c \
	validate/command/report.c validate/command/report.h \
	validate/command/topology.c \
	validate/command/topology_fabric.c validate/command/topology_fabric.h \
	validate/command/topology_neighbours.c \
	# end of muster_SOURCES
muster_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(SLURM_CFLAGS)
muster_LDADD = \
	validate/checks/libchecks.la \
	validate/claims/libclaims.la \
	validate/slurm/libcluster.la \
	validate/subnet/libsubnet.la \
	validate/report/libreport.la \
	validate/history/libhistory.la \
	validate/act/libact.la \
	validate/judge/libjudge.la \
	lib/libmuster.la lib/libstatistics.la \
	$(JANSSON_LIBS) $(SQLITE_LIBS) $(SLURM_LIBS) \
	# end of muster_LDADD
