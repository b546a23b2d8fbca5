# SPDX-License-Identifier: Apache-2.0

# All that talks to Slurm: its library and the command line of srun.
if BUILD_MUSTER
noinst_LIBRARIES += validate/slurm/libcluster.a
libcluster = validate/slurm/libcluster.a $(SLURM_LIBS)
validate_slurm_libcluster_a_SOURCES = \
	validate/slurm/batch.c validate/slurm/batch.h \
	validate/slurm/cluster.c validate/slurm/cluster.h \
	validate/slurm/extra.c validate/slurm/extra.h \
	validate/slurm/jobs.c \
	validate/slurm/munge.c validate/slurm/munge.h \
	validate/slurm/nodes.c \
	validate/slurm/operations.c validate/slurm/operations.h \
	validate/slurm/release.c validate/slurm/release.h \
	validate/slurm/revocation.c validate/slurm/revocation.h \
	validate/slurm/runs.c validate/slurm/runs.h \
	validate/slurm/show.c validate/slurm/show.h \
	validate/slurm/state.c \
	validate/slurm/job/allocation.c validate/slurm/job/allocation.h \
	validate/slurm/job/as_user.c validate/slurm/job/as_user.h \
	validate/slurm/job/ended.c validate/slurm/job/ended.h \
	validate/slurm/job/memory.c validate/slurm/job/memory.h \
	validate/slurm/job/own_job.c validate/slurm/job/own_job.h \
	validate/slurm/job/pending.c validate/slurm/job/pending.h \
	validate/slurm/job/pending_match.c \
	validate/slurm/job/preempts.c validate/slurm/job/preempts.h \
	validate/slurm/job/user.c validate/slurm/job/user.h \
	validate/slurm/step/error_line.c validate/slurm/step/error_line.h \
	validate/slurm/step/labels.c validate/slurm/step/labels.h \
	validate/slurm/step/long_list.c validate/slurm/step/long_list.h \
	validate/slurm/step/node_lines.c validate/slurm/step/node_lines.h \
	validate/slurm/step/probe.c validate/slurm/step/probe.h \
	validate/slurm/step/process.c validate/slurm/step/process.h \
	validate/slurm/step/job_match.c validate/slurm/step/job_match.h \
	validate/slurm/step/reach.c validate/slurm/step/reach.h \
	validate/slurm/step/search_path.c validate/slurm/step/search_path.h \
	validate/slurm/step/step.c validate/slurm/step/step.h \
	validate/slurm/undo/journal.c validate/slurm/undo/journal.h \
	validate/slurm/undo/notes.c \
	validate/slurm/undo/retest.c validate/slurm/undo/retest.h \
	validate/slurm/undo/undo.c validate/slurm/undo/undo.h \
	validate/slurm/undo/rollback.c validate/slurm/undo/rollback.h \
	# end of validate_slurm_libcluster_a_SOURCES
validate_slurm_libcluster_a_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
endif BUILD_MUSTER
