# SPDX-License-Identifier: Apache-2.0

# All that talks to Slurm: its library and the command line of srun.
if BUILD_MUSTER
noinst_LIBRARIES += validate/slurm/libcluster.a
libcluster = validate/slurm/libcluster.a $(SLURM_LIBS)
validate_slurm_libcluster_a_SOURCES = \
	validate/slurm/batch.c validate/slurm/batch.h \
	validate/slurm/complaint.c validate/slurm/complaint.h \
	validate/slurm/process.c validate/slurm/process.h \
	validate/slurm/cluster.c validate/slurm/cluster.h \
	validate/slurm/ended.c validate/slurm/ended.h \
	validate/slurm/extra.c validate/slurm/extra.h \
	validate/slurm/jobs.c \
	validate/slurm/undo/journal.c validate/slurm/undo/journal.h \
	validate/slurm/undo/notes.c \
	validate/slurm/labels.c validate/slurm/labels.h \
	validate/slurm/memory.c validate/slurm/memory.h \
	validate/slurm/munge.c validate/slurm/munge.h \
	validate/slurm/nodes.c \
	validate/slurm/node_lines.c validate/slurm/node_lines.h \
	validate/slurm/long_list.c validate/slurm/long_list.h \
	validate/slurm/operations.c validate/slurm/operations.h \
	validate/slurm/own_job.c validate/slurm/own_job.h \
	validate/slurm/pending.c validate/slurm/pending.h \
	validate/slurm/pending_for.c \
	validate/slurm/preempts.c validate/slurm/preempts.h \
	validate/slurm/probe.c validate/slurm/probe.h \
	validate/slurm/ran.c validate/slurm/ran.h \
	validate/slurm/release.c validate/slurm/release.h \
	validate/slurm/reach.c validate/slurm/reach.h \
	validate/slurm/retest.c validate/slurm/retest.h \
	validate/slurm/revocation.c validate/slurm/revocation.h \
	validate/slurm/runs.c validate/slurm/runs.h \
	validate/slurm/search_path.c validate/slurm/search_path.h \
	validate/slurm/as_user.c validate/slurm/as_user.h \
	validate/slurm/allocation.c validate/slurm/allocation.h \
	validate/slurm/show.c validate/slurm/show.h \
	validate/slurm/state.c \
	validate/slurm/step.c validate/slurm/step.h \
	validate/slurm/undo/undo.c validate/slurm/undo/undo.h \
	validate/slurm/undo/undoing.c validate/slurm/undo/undoing.h \
	validate/slurm/user.c validate/slurm/user.h \
	# end of validate_slurm_libcluster_a_SOURCES
validate_slurm_libcluster_a_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
endif BUILD_MUSTER
