/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "validate/command/command.h"
#include "validate/history/stage_values.h"
#include "validate/report/table.h"

struct listing {
    struct stage_value *items; /* their names are copies */
    size_t count;
};

static void value_add(const struct stage_value *value, void *context)
{
    struct listing *listing = context;
    char *name = strdup(value->stage);

    if (!name || !GROW(listing->items, listing->count)) {
        free(name);
        return;
    }
    listing->items[listing->count] = *value;
    listing->items[listing->count++].stage = name;
}

static int compare(const void *a, const void *b)
{
    double x = stage_value_per_hour(a), y = stage_value_per_hour(b);

    return (x < y) - (x > y);
}

static void print_record(const struct stage_value *value, int days)
{
    record_put(stdout,
               RECORD(.suite = "history", .test = "stage", .metric = "failed_per_hour",
                      .part = value->stage, .value = stage_value_per_hour(value), .unit = "1/h"),
               "%.0f of %.0f nodes found in %d runs of %d days, %.1f s each", value->found,
               value->tested, value->runs, days, value->seconds);
}

static void add_row(struct table *table, const struct stage_value *value)
{
    table_cells(table, "%s\t%d\t%.0f\t%.0f\t%.1f %%\t%.1f s\t%.2f", value->stage, value->runs,
                value->tested, value->found, 100 * stage_value_chance(value), value->seconds,
                stage_value_per_hour(value));
}

int history_print_values(const char *path, int days, bool as_json)
{
    struct listing listing = {0};
    struct table table = {0};
    struct error err;

    if (stage_values(path, clock_epoch_s() - 86400.0 * days, value_add, &listing, &err) < 0)
        return command_failed(COMMAND_UNKNOWN, "muster history", "%s", err.text);
    if (listing.count > 0)
        qsort(listing.items, listing.count, sizeof *listing.items, compare);
    table_heading(&table, "STAGE\tRUNS\tTESTED\tFOUND\tCHANCE\tTIME\tPER HOUR");
    for (size_t i = 0; i < listing.count; i++)
        if (as_json)
            print_record(&listing.items[i], days);
        else
            add_row(&table, &listing.items[i]);
    table_end(&table, stdout, "");
    if (listing.count == 0)
        fprintf(stderr,
                "muster history: no run of the last %d days has stage times, according to %s\n",
                days, path);
    for (size_t i = 0; i < listing.count; i++)
        free((char *)listing.items[i].stage);
    free(listing.items);
    return COMMAND_PASS;
}
