#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make install` installs programs and plugin, and what muster's own folder of state needs to be made in;
# `make uninstall` leaves neither file nor folder; `make dist` makes the same tarball whenever and with
# whatever umask it is called, and packs every file, whatever is built.
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
ok '... and the folder of what muster keeps is there' test -d "$work/root$state"
mkdir -p "$work/root$state/muster"
make_quietly uninstall DESTDIR="$work/root"
not_ok 'make uninstall takes away the state, where it is empty' test -e "$work/root$state/muster"
is "$(find "$work/root" ! -type d)" '' 'make uninstall leaves no file'
is "$(find "$work/root$prefix" -name '*muster*' 2>/dev/null)" '' '... and no folder of its name'
case $prefix in
/usr | /usr/local) ;;
*) is "$(find "$work/root$prefix" -mindepth 1 2>/dev/null)" '' '... nor anything in a prefix that is its own' ;;
esac

tarball() { # UMASK: a fast one, as only its order, times and owners are looked at
    (umask "$1" && XZ_OPT=-0 make_quietly dist distdir=$name)
    cksum <"$name.tar.xz"
}
first=$(tarball 022)
isnt "$first" '' 'make dist'
sleep 1.1 # folders have the time at which they are made
is "$(tarball 027)" "$first" '... is the same to the byte the next time'

# Each condition of configure does not hold.
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
        'every file is packed, also where nothing can be built'
else
    skip 1 'not in a repository'
fi
done_testing
