#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make install` installs programs and plugin, and makes the folder that will contain muster's state folder;
# `make uninstall` leaves no file or folder; `make dist` makes the same tarball from the same files for any
# user, and packs every file, whatever is built. `make distcheck` tests that it can copy them.
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top_srcdir/tests/tap.sh"

cd "${top_builddir:-.}" || bail 'no build directory'
[ -e Makefile ] || skip_all 'not in a build directory'
work=$(mktemp -d) name=twice-$$
tap_cleanup() {
    chmod -R u+w "$name" 2>/dev/null
    rm -rf "$work" "$name" "$name".tar.xz
}
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

make_quietly() { make "$@" >"$work/log" 2>&1 || tail -n 5 "$work/log"; }
prefix=$(sed -n 's/^prefix = //p' Makefile)
state=$(sed -n "s|^localstatedir = ||; T; s|\${prefix}|$prefix|; p" Makefile)/lib

make_quietly install DESTDIR="$work/root"
ok 'make install' test -x "$work/root$prefix/bin/muster-codec"
ok '... makes the folder of the state' test -d "$work/root$state"
mkdir -p "$work/root$state/muster"
make_quietly uninstall DESTDIR="$work/root"
not_ok 'make uninstall removes an empty state folder' test -e "$work/root$state/muster"
is "$(find "$work/root" ! -type d)" '' 'make uninstall leaves no file'
is "$(find "$work/root$prefix" -name '*muster*' 2>/dev/null)" '' '... and no folder with its name'
case $prefix in
/usr | /usr/local) ;;
*) is "$(find "$work/root$prefix" -mindepth 1 2>/dev/null)" '' '... and nothing in a prefix of its own' ;;
esac

tarball() { # UMASK OWNER NAME...: packs these files, made in this order; prints the checksum
    local file
    rm -rf "$name" "$name.tar.xz"
    (
        umask "$1"
        for file in "${@:3}"; do
            mkdir -p "$name/$(dirname "$file")"
            echo text >"$name/$file"
            [ "$(basename "$file")" != program ] || chmod u+x "$name/$file"
        done
    )
    [ "$(id -u)" != 0 ] || chown -R "$2" "$name"
    XZ_OPT=-0 make_quietly dist distdir=$name AM_MAKEFLAGS='-o distdir' am__post_remove_distdir=:
    cksum <"$name.tar.xz"
}
files='a/1 a/program b/1 b/2 c d e/f/1'
first=$(tarball 022 0:0 $files)
isnt "$first" '' 'make dist'
sleep 1.1 # so that the files get other times
backwards=$(tac -s ' ' <<<"$files")
is "$(tarball 077 12345:12345 $backwards)" "$first" '... gives the same bytes for any user and time'
is "$(tar -tf "$name.tar.xz")" "$(tar -tf "$name.tar.xz" | LC_ALL=C sort)" '... sorted by name'
ok '... and each file that it packs exists, or can be made' make -n distdir

# Prints the files that `make dist` packs if all conditions of configure are false.
packed_where_nothing_is_built() {
    {
        sed -E '/^@SET_MAKE@/d; /^(@\w+_(TRUE|FALSE)@)*@\w+_TRUE@/s/.*/#/; s/^(@\w+_FALSE@)+//' "$top_srcdir/Makefile.in"
        printf 'print-packed: ; $(foreach file,$(DISTFILES),$(info $(file)))@:\n'
    } >"$work/nothing.mk"
    make -s -f "$work/nothing.mk" print-packed SHELL=/bin/sh srcdir=. top_srcdir=. 2>"$work/log" |
        sed 's|^\./||' | sort -u
}
if [ -e "$top_srcdir/.git" ] && git -C "$top_srcdir" rev-parse >/dev/null 2>&1; then
    is "$(git -C "$top_srcdir" ls-files | grep -v -e '^\.' -e '/\.keep$' | sort | comm -23 - <(packed_where_nothing_is_built))" '' \
        'every file is packed, also if nothing can be built'
else
    skip 1 'not in a repository'
fi
done_testing
