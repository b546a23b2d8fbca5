# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # prefix is for those that source this
#
# release.sh - which Debian, and so which Slurm, the lab's hosts run: the machine's own files, or a
# node root that the program root makes. In a root packages-RELEASE muster comes from its packages only.

# Sets root ('' for the machine's own files) and prefix, where muster is installed that was built for it.
release_choose() { # RELEASE
    case $1 in
    bookworm)
        root='' prefix=$top/.lab/prefix
        ;;
    trixie | unstable | packages-bookworm | packages-trixie | packages-unstable)
        root=$top/.lab/roots/$1 prefix=$top/.lab/prefix-$1
        ;;
    *)
        echo "${0##*/}: the release is bookworm, trixie or unstable, not '$1'" >&2
        exit 2
        ;;
    esac
}

root_make() {
    [ -z "$root" ] || "$lab_dir/root" "$release" >/dev/null || exit
}

# UID:GID of MUNGE's user in the lab's hosts.
munge_owner() {
    awk -F: '$1 == "munge" { print $3 ":" $4 }' "$root/etc/passwd"
}

has_plugin() { # NAME: whether Slurm itself brings this plugin
    compgen -G "$root/usr/lib/*/slurm-wlm/$1.so" >/dev/null
}

# Debian's Slurm 26.05 is built without PMIx.
mpi_default() {
    if has_plugin mpi_pmix; then echo pmix; else echo pmi2; fi
}

# Lets jobs request what a node's Extra has; Slurm 22.05 has no such field and refuses the parameter.
scheduler_extra() {
    case $release in bookworm | packages-bookworm) ;; *) echo ,extra_constraints ;; esac
}

# As in doc/operations.md: Slurm 22.05 sometimes refuses connections of ranks, and sometimes lets a
# rank leave MPI_Init too early.
mpi_conf() {
    case $release in
    bookworm | packages-bookworm) printf 'PMIxDirectConn=false\nPMIxCollFence=tree\n' ;;
    esac
}
