# SPDX-License-Identifier: Apache-2.0
#
# One macro per package, each sets muster_have_X.
AC_DEFUN([MUSTER_MUNGE], [MUSTER_PKG([MUNGE], [munge], [MUNGE],
    [the plugin and the muster command], [libmunge-dev], [munge-devel])])
AC_DEFUN([MUSTER_JANSSON], [MUSTER_PKG([JANSSON], [jansson], [jansson],
    [the muster command], [libjansson-dev], [jansson-devel])])
AC_DEFUN([MUSTER_SQLITE], [MUSTER_PKG([SQLITE], [sqlite3], [SQLite],
    [the muster command], [libsqlite3-dev], [sqlite-devel])])
AC_DEFUN([MUSTER_UCX], [MUSTER_PKG([UCX], [ucx], [UCX],
    [the battery], [libucx-dev], [ucx-devel])])
AC_DEFUN([MUSTER_IBVERBS], [MUSTER_PKG([IBVERBS], [libibverbs >= 1.12], [libibverbs],
    [RDMA ports driven by verbs in muster-links], [libibverbs-dev], [rdma-core-devel])
    AS_IF([test "$muster_have_ibverbs" = yes],
        [AC_DEFINE([HAVE_IBVERBS], [1], [libibverbs is there])])])
AC_DEFUN([MUSTER_IBNETDISC], [MUSTER_PKG([IBNETDISC], [libibnetdisc libibmad libibumad], [libibnetdisc],
    [discovery of InfiniBand subnets], [libibnetdisc-dev libibmad-dev libibumad-dev], [rdma-core-devel])
    AS_IF([test "$muster_have_ibnetdisc" = yes],
        [AC_DEFINE([HAVE_IBNETDISC], [1], [libibnetdisc is there])])])
AC_DEFUN([MUSTER_YAML], [MUSTER_PKG([YAML], [yaml-0.1], [libyaml],
    [topology.yaml of Slurm 25.05 and later], [libyaml-dev], [libyaml-devel])
    AS_IF([test "$muster_have_yaml" = yes], [AC_DEFINE([HAVE_YAML], [1], [libyaml is there])])])
AC_DEFUN([MUSTER_HWLOC], [MUSTER_PKG([HWLOC], [hwloc], [hwloc],
    [a test of affinity, nothing else], [libhwloc-dev], [hwloc-devel])])
# Its header defines what ours has defined already, which is nobody's warning in a system's.
AC_DEFUN([MUSTER_OPENBLAS], [MUSTER_PKG([OPENBLAS], [openblas], [OpenBLAS],
    [the trainer], [libopenblas-openmp-dev], [openblas-devel])
OPENBLAS_CFLAGS=$(echo "$OPENBLAS_CFLAGS" | sed 's/-I */-isystem /g')])
