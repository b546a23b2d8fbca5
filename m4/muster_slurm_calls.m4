# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_SLURM_CALLS: how this libslurm's calls are made, for validate/slurm/release.c. Tried, not
# concluded from a version number: distributions carry patches. Needs MUSTER_SLURM.
AC_DEFUN([MUSTER_SLURM_TRY], [
    AC_MSG_CHECKING([whether $3])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
#include <slurm/slurm.h>]], [[$2]])],
        [AC_MSG_RESULT([yes]); AC_DEFINE([$1], [1], [$3])], [AC_MSG_RESULT([no])])
])
AC_DEFUN([MUSTER_SLURM_CALLS], [
    muster_saved_cflags=$CFLAGS
    muster_saved_cppflags=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
    CFLAGS="$CFLAGS -Werror"
    MUSTER_SLURM_TRY([SLURM_STEPS_BY_STRUCT],
        [slurm_step_id_t id = {0}; slurm_get_job_steps(&id, NULL, 0); slurm_kill_job_step(&id, 0, 0);],
        [libslurm names steps by a struct])
    MUSTER_SLURM_TRY([SLURM_STEP_KILL_HAS_FLAGS],
        [slurm_kill_job_step((uint32_t)1, (uint32_t)1, (uint16_t)1, (uint16_t)0);],
        [slurm_kill_job_step takes flags])
    AC_CHECK_DECLS([ESPANK_JOB_FAILURE], [], [], [[#include <slurm/spank.h>]])
    AC_CHECK_DECLS([slurm_free_conf], [], [], [[#include <slurm/slurm.h>]])
    AC_CHECK_MEMBERS([slurm_job_info_t.job_id,
        resource_allocation_response_msg_t.job_id, submit_response_msg_t.job_id,
        update_node_msg_t.reason_uid, job_desc_msg_t.segment_size,
        update_node_msg_t.extra, node_info_t.extra], [], [], [[#include <slurm/slurm.h>]])
    CFLAGS=$muster_saved_cflags
    CPPFLAGS=$muster_saved_cppflags
])
