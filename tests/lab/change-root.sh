# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# change-root.sh - gives this process and its children another root file system. They must be in a mount
# namespace of their own. The program root, beside this file, makes such root file systems.

# Makes ROOT the root, with the machine's /proc, /sys and /dev, and the source tree TOP at its place. Files
# that are written elsewhere are kept in memory. Creates DIRECTORY, to hold the mounts.
change_root() { # DIRECTORY ROOT TOP
    mkdir -p "$1"
    mount -t tmpfs -o mode=755 root "$1"
    cd "$1" || return
    mkdir upper work merged
    mount -t overlay -o "lowerdir=$2,upperdir=upper,workdir=work" overlay merged
    mkdir -p "merged$3"
    mount --bind "$3" "merged$3"
    mount --rbind /proc merged/proc
    mount --rbind /sys merged/sys
    mount --rbind /dev merged/dev
    cd merged || return
    pivot_root . .
    umount -l .
    cd /
}
