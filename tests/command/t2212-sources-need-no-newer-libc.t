#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster must build on RHEL 8, which has glibc 2.28: no source calls a function that is newer.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top_srcdir/tests/tap.sh"

newer='gettid|tgkill|getdents64|pthread_cond_clockwait|pthread_mutex_clocklock|sem_clockwait|thrd_[a-z]+'
newer+='|sigabbrev_np|sigdescr_np|strerrorname_np|strerrordesc_np|mallinfo2|_Fork|closefrom|close_range'
newer+='|execveat|epoll_pwait2|posix_spawn_file_actions_add(closefrom|tcsetpgrp)_np|pidfd_[a-z]+'
newer+='|process_madvise|process_mrelease|arc4random[a-z_]*|str(lcpy|lcat)|fsopen|fsmount|move_mount|open_tree'

calls() { # FOLDER: prints each call of such a function with its file
    (cd "$1" && grep -rnoE "\<($newer)\(" --include='*.[ch]' lib spank validate collectives trainer tests 2>/dev/null)
}

work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
mkdir "$work/lib"
echo 'pid_t thread = gettid();' >"$work/lib/a.c"
echo 'pid_t thread = my_gettid();' >"$work/lib/b.c"
is "$(calls "$work")" 'lib/a.c:1:gettid(' 'a call of a newer function is found'
is "$(calls "$top_srcdir")" '' 'no source needs a glibc newer than 2.28'
done_testing
