/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/kinds.h"

#include <string.h>

enum field { FIELD_MTU, FIELD_CLASS, FIELDS };

void kinds_note(const struct rail_infos *rail_infos, struct rail_kinds *kinds)
{
    kinds->count = rail_infos->count;
    for (int i = 0; i < rail_infos->count; i++) {
        memcpy(kinds->rails[i].name, rail_infos->rails[i].name, sizeof kinds->rails[i].name);
        kinds->rails[i].mtu_bytes = rail_infos->rails[i].probe.mtu_bytes;
        kinds->rails[i].class = rail_infos->rails[i].class;
    }
}

static int value_of(const struct rail_kinds *kinds, const char *rail, enum field field)
{
    for (int i = 0; i < kinds->count; i++)
        if (strcmp(kinds->rails[i].name, rail) == 0)
            return field == FIELD_MTU ? kinds->rails[i].mtu_bytes : kinds->rails[i].class;
    return -1;
}

/* Returns the value of that rail that most nodes have. *having: how many have it; *known: how many
 * have any. The vote of Boyer and Moore (1981) finds it if more than half have it, else it returns
 * another value. */
static int majority(const struct program *program, const struct rail_kinds *kinds, const char *rail,
                    enum field field, int *having, int *known)
{
    int best = -1, lead = 0;

    *having = *known = 0;
    for (int node = 0; node < program->node_count; node++) {
        int value = value_of(&kinds[node], rail, field);

        if (value < 0)
            continue;
        ++*known;
        if (lead == 0)
            best = value;
        lead += value == best ? 1 : -1;
    }
    for (int node = 0; node < program->node_count; node++)
        *having += best >= 0 && value_of(&kinds[node], rail, field) == best;
    return best;
}

static void report(const struct program *program, const struct rail_kinds *kinds, int node,
                   const char *rail, enum field field)
{
    int own = value_of(&kinds[node], rail, field), having, known;
    int best = majority(program, kinds, rail, field, &having, &known);
    struct record record;
    bool is_clear = 2 * having > known;

    if (own < 0 || having == known || (own == best && is_clear))
        return;
    record = RECORD(.test = "links", .metric = field == FIELD_MTU ? "mtu" : "kind",
                    .node = program->node_name[node], .part = rail,
                    .verdict = is_clear ? VERDICT_FAIL : VERDICT_UNKNOWN,
                    .code = field == FIELD_MTU ? FAULT_MTU_WRONG : FAULT_RAIL_WRONG_KIND);
    if (field == FIELD_MTU && is_clear) {
        record.limit = best;
        record.limit_source = "majority";
    }
    if (field == FIELD_MTU) {
        record.value = own;
        record.unit = "bytes";
        if (is_clear)
            output_report(record, "%s has MTU %d, but %d of %d nodes have %d", rail, own, having,
                          known, best);
        else
            output_report(record, "%s has MTU %d, but no MTU has a majority of the nodes", rail,
                          own);
    } else if (is_clear) {
        output_report(record, "%s is %s, but on %d of %d nodes it is %s", rail,
                      fabric_class_name((enum fabric_class)own), having, known,
                      fabric_class_name((enum fabric_class)best));
    } else {
        output_report(record, "%s is %s, but no kind has a majority of the nodes", rail,
                      fabric_class_name((enum fabric_class)own));
    }
}

void kinds_report(const struct program *program, const struct rail_kinds *kinds)
{
    for (int node = 0; node < program->node_count; node++)
        for (int i = 0; i < kinds[node].count; i++)
            for (enum field field = 0; field < FIELDS; field++)
                report(program, kinds, node, kinds[node].rails[i].name, field);
}
