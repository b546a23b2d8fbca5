/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/constants.h"

#include <stddef.h>

#include "lib/base/json_text.h"
#include "lib/constants/battery_constants.h"
#include "lib/constants/certify_constants.h"
#include "lib/constants/checks_constants.h"
#include "lib/constants/collectives_constants.h"
#include "lib/constants/command_constants.h"
#include "lib/constants/harness_constants.h"
#include "lib/constants/links_constants.h"
#include "lib/constants/model_constants.h"
#include "lib/constants/node_constants.h"
#include "lib/constants/plan_constants.h"
#include "lib/constants/policy_constants.h"
#include "lib/constants/preflight_constants.h"
#include "lib/constants/run_constants.h"
#include "lib/constants/schedule_constants.h"
#include "lib/constants/slurm_constants.h"
#include "lib/constants/trainer_constants.h"
#include "lib/constants/watch_constants.h"

#define ROW(kind, name, value, unit, origin, meaning) ROW_##kind(name, value, unit, origin, meaning)
#define ROW_integer(name, value, ...) {#name, (const double[]){value}, 1, __VA_ARGS__},
#define ROW_real ROW_integer
#define ROW_reals(name, value, ...) {#name, name, sizeof name / sizeof *name, __VA_ARGS__},

#define ROOM(name, table)                                                                          \
    {                                                                                              \
        name, (const struct constant[]){table(ROW)},                                               \
            sizeof(struct constant[]){table(ROW)} / sizeof(struct constant)                        \
    }

static const struct {
    const char *name;
    const struct constant *rows;
    size_t count;
} rooms[] = {
    ROOM("node", NODE_CONSTANTS),
    ROOM("checks", CHECKS_CONSTANTS),
    ROOM("policy", POLICY_CONSTANTS),
    ROOM("slurm", SLURM_CONSTANTS),
    ROOM("command", COMMAND_CONSTANTS),
    ROOM("certify", CERTIFY_CONSTANTS),
    ROOM("preflight", PREFLIGHT_CONSTANTS),
    ROOM("schedule", SCHEDULE_CONSTANTS),
    ROOM("links", LINKS_CONSTANTS),
    ROOM("model", MODEL_CONSTANTS),
    ROOM("harness", HARNESS_CONSTANTS),
    ROOM("battery", BATTERY_CONSTANTS),
    ROOM("collectives", COLLECTIVES_CONSTANTS),
    ROOM("trainer", TRAINER_CONSTANTS),
    ROOM("run", RUN_CONSTANTS),
    ROOM("plan", PLAN_CONSTANTS),
    ROOM("watch", WATCH_CONSTANTS),
};

static void json_member(const char *name, const char *value, FILE *stream)
{
    fprintf(stream, ",\"%s\":", name);
    json_text_write(stream, value, "");
}

static void row_print_json(const char *room, const struct constant *row, FILE *stream)
{
    fprintf(stream, "{\"constant\":\"%s\",\"room\":\"%s\",\"value\":%s", row->name, room,
            row->value_count > 1 ? "[" : "");
    for (size_t i = 0; i < row->value_count; i++)
        fprintf(stream, "%s%.15g", i > 0 ? "," : "", row->values[i]);
    fputs(row->value_count > 1 ? "]" : "", stream);
    json_member("unit", row->unit, stream);
    json_member("origin", row->origin, stream);
    json_member("meaning", row->meaning, stream);
    fputs("}\n", stream);
}

static void row_print(const struct constant *row, FILE *stream)
{
    fprintf(stream, "#   %s =", row->name);
    for (size_t i = 0; i < row->value_count; i++)
        fprintf(stream, " %.15g", row->values[i]);
    fprintf(stream, " %s: %s (%s)\n", row->unit, row->meaning, row->origin);
}

void constants_print(bool as_json, FILE *stream)
{
    if (!as_json)
        fputs("\n# Tuned constants of this version. They are not keys: only a new version changes "
              "them.\n",
              stream);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        if (!as_json)
            fprintf(stream, "#\n# %s\n", rooms[i].name);
        for (size_t j = 0; j < rooms[i].count; j++)
            if (as_json)
                row_print_json(rooms[i].name, &rooms[i].rows[j], stream);
            else
                row_print(&rooms[i].rows[j], stream);
    }
}
