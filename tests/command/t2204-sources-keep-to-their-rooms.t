#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Rooms (folders of sources) depend on each other in one direction: each includes headers only of the
# rooms beside it in the table. Absent on purpose: lib depends on nothing; the harness does not depend
# on a program of the battery; the trainer depends on the harness, not on the battery; only the battery
# includes the battery: others start its programs and read their records.
. "$(dirname "$0")/command.sh"

# ROOM the rooms that it may include
table='
lib
spank lib
collectives lib
trainer lib collectives validate/harness
validate/accelerator lib
validate/battery collectives lib validate/accelerator validate/harness validate/schedule
validate/certify lib validate/checks validate/command validate/compare validate/harness validate/history validate/localization validate/policy validate/report validate/schedule validate/slurm validate/subnet validate/suspects
validate/checks lib validate/accelerator validate/health validate/suspects
validate/command lib validate/checks validate/compare validate/health validate/history validate/plan validate/policy validate/report validate/scheduling validate/slurm validate/subnet validate/suspects
validate/compare lib validate/report validate/slurm
validate/diagnose lib
validate/harness lib
validate/health lib
validate/history lib validate/policy validate/report
validate/localization lib validate/diagnose validate/report validate/schedule
validate/plan lib trainer validate/history validate/report
validate/policy lib validate/slurm
validate/preflight lib validate/command validate/localization validate/policy validate/report validate/slurm validate/suspects
validate/report lib
validate/run lib validate/command validate/report validate/slurm
validate/schedule lib
validate/scheduling lib validate/slurm
validate/slurm lib
validate/subnet lib
validate/suspects lib
validate/watch lib validate/command validate/report validate/slurm validate/suspects
'

included() { # DIR: "ROOM INCLUDED-ROOM FILE" of each include of another room
    (cd "$1" && grep -rE '^#include "(lib|spank|collectives|trainer|validate)/' --include='*.[ch]' \
        lib spank collectives trainer validate) | sed -E 's/:#include "/ /; s/".*//' | awk '
        function room(path,    part) {
            split(path, part, "/")
            return part[1] == "validate" ? part[1] "/" part[2] : part[1]
        }
        room($1) != room($2) { print room($1), room($2), $1 }'
}

refused() { # DIR: "FILE: ROOM" of each include that the table does not have
    included "$1" | awk -v table="$table" '
        BEGIN {
            lines = split(table, line, "\n")
            for (i = 1; i <= lines; i++) {
                fields = split(line[i], field, " ")
                for (j = 2; j <= fields; j++)
                    may[field[1], field[j]] = 1
            }
        }
        !(($1, $2) in may) { print $3 ": " $2 }' | LC_ALL=C sort -u
}

# the search finds such an include
mkdir -p "$dir"/{lib/base,spank,collectives,trainer/comm,validate/{harness/watch,battery/links,certify}}
echo '#include "validate/slurm/step/step.h"' >"$dir/lib/base/text.h"
printf '#include "%s"\n' lib/base/text.h validate/battery/links/passes.h >"$dir/trainer/comm/comm.c"
echo '#include "validate/battery/links/passes.h"' >"$dir/validate/harness/watch/watch.c"
printf '#include "%s"\n' validate/harness/program.h lib/base/text.h >"$dir/validate/battery/links/passes.h"
is "$(refused "$dir")" 'lib/base/text.h: validate/slurm
trainer/comm/comm.c: validate/battery
validate/harness/watch/watch.c: validate/battery' 'forbidden includes are found, and no others'

all=$(included "$top_srcdir")
(($(wc -l <<<"$all") > 500)) || bail 'no sources'
is "$(refused "$top_srcdir")" '' 'each room includes only rooms that it may include'
unused=$(awk 'NR == FNR { has[$1, $2] = 1; next }
    { for (i = 2; i <= NF; i++) if (!(($1, $i) in has)) print $1 ": " $i }' <(echo "$all") <(echo "$table"))
is "$unused" '' '... and the table has no unused entry'
is "$(awk 'NF { print $1, $1; for (i = 2; i <= NF; i++) print $1, $i }' <<<"$table" | tsort 2>&1 >/dev/null |
    sed 's/^tsort: -: //; s/^tsort: //' | paste -sd' ')" '' 'the table has no cycle'
done_testing
