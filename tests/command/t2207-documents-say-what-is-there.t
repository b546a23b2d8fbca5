#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# doc/architecture.md and doc/extending.md: paths that they name exist, no recipe touches more than four
# files, and the recipe for a check, followed to the letter in a scratch tree, makes a check. The
# folders and files of validate/certify have no circular includes; its state does no I/O.
. "$(dirname "$0")/command.sh"

guide=$top_srcdir/doc/extending.md

missing=$(grep -ohE '`(lib|spank|validate|collectives|trainer|tests|doc)/[A-Za-z0-9_./-]+`' \
    "$top_srcdir/doc/architecture.md" "$guide" "$top_srcdir/CONTRIBUTING.md" | tr -d '`' | sort -u |
    grep -v 'NAME\.c$' | grep -vx 'validate/checks/example.c' |
    while read -r path; do [ -e "$top_srcdir/$path" ] || echo "$path"; done)
is "$missing" '' 'files and folders that the documents name exist'

most=$(awk '/^## /{ count = 0 } /^\| `/ { if (++count > most) most = count } END { print most }' "$guide")
ok "no recipe touches more than four files (found $most)" [ "$most" -le 4 ]

# --- a check is added, in a copy of the files that the recipe touches
mkdir -p "$dir/lib/catalog" "$dir/validate/checks"
export test_row check_row # awk -v would take the backslash at their end
test_row=$(grep -E '^ +TEST\(' "$guide")
check_row=$(grep -E '^ +ROW\(' "$guide")
awk '{ print } /^#define TEST_TABLE/ { print ENVIRON["test_row"] }' \
    "$top_srcdir/lib/catalog/test_table.h" >"$dir/lib/catalog/test_table.h"
awk '{ print } /^#define CHECK_LIST/ { print ENVIRON["check_row"] }' \
    "$top_srcdir/validate/checks/checks.h" >"$dir/validate/checks/checks.h"
awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' "$guide" >"$dir/validate/checks/example.c"
cat >"$dir/main.c" <<'EOF'
#include "validate/checks/checks.h"

#include <stdio.h>

static void print(const struct record *record, void *context)
{
    (void)context;
    printf("%s %s: %s\n", record->test, verdict_name(record->verdict), record->message);
}

/* Only those that the scratch tree has are run. */
#define NOT_HERE(name, help, run) \
    __attribute__((weak)) void run(const struct checks *checks) { (void)checks; }
CHECK_LIST(NOT_HERE)

int main(int argc, char **argv)
{
    struct checks checks = {.root = argc > 1 ? argv[1] : "", .node = "n1", .sink = print};

    for (size_t i = 0; i < check_count; i++)
        if (check_is_wanted(&check_table[i], "host.example"))
            check_run(&check_table[i], &checks);
    return catalog_test("host.example") ? 0 : 1;
}
EOF
read -ra cc <<<"${CC:-cc}"
ok 'the check compiles without a warning' "${cc[@]}" -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE \
    -I"$dir" -I"$top_srcdir" -I"$top_builddir" -c -o "$dir/example.o" "$dir/validate/checks/example.c"
ok '... so does the table with it' "${cc[@]}" -std=gnu11 -D_GNU_SOURCE -I"$dir" -I"$top_srcdir" \
    -I"$top_builddir" -o "$dir/check" "$dir/main.c" "$dir/example.o" \
    "$top_srcdir/validate/checks/checks.c" "$top_srcdir"/lib/{base/utf8,catalog/catalog,catalog/verdict}.c
mkdir -p "$dir/root/proc/sys/fs"
echo 100 >"$dir/root/proc/sys/fs/file-max"
like "$("$dir/check" "$dir/root")" '^host.example (fail|warn): 100 open files, expected at least 1024$' \
    'the check finds its fault'
echo 5000 >"$dir/root/proc/sys/fs/file-max"
is "$("$dir/check" "$dir/root")" 'host.example pass: 5000 open files' '... and passes without it'

# --- no circle
includes() { # SED-SCRIPT: prints which folder or file includes which
    (cd "$top_srcdir" && grep -rE '^#include "validate/certify/' validate/certify --include='*.[ch]') |
        sed -E 's/:#include "/ /; s/".*//' | sed -E "$1" | awk '$1 != $2' | sort -u
}
circle=$(includes 's/\.[ch]( |$)/\1/g' | tsort 2>&1 >/dev/null)
is "$circle" '' 'the files of validate/certify have no circular includes'
circle=$(includes 's#/[^/ ]*( |$)#\1#g' | tsort 2>&1 >/dev/null)
is "$circle" '' '... its folders neither'
writes=$(cd "$top_srcdir" && grep -nE '(^|[^a-z_])(record_write|progress_[a-z]+|f?printf|fputs|getrandom)\(' \
    validate/certify/state/*.c)
is "$writes" '' '... and its state does no output'
done_testing
