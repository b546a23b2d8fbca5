/* SPDX-License-Identifier: Apache-2.0 */
/* muster-links: latency and bandwidth of every pair of nodes on every rail, both directions. */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "validate/battery/links/path.h"
#include "validate/battery/links/rounds.h"

static int take_rails(const char *value, void *context, struct error *err)
{
    struct hostlist list;

    if (hostlist_expand(value, &list, err) != 0)
        return -1;
    hostlist_clear(&list);
    ((struct rounds_plan *)context)->rails = value;
    return 0;
}

static int take_pairs(const char *value, void *context, struct error *err)
{
    ((struct rounds_plan *)context)->pairs = value;
    for (const char *pair = value; *pair;) {
        size_t length = strcspn(pair, ","), first = strcspn(pair, ":,");

        if (first == 0 || first + 1 >= length || pair[first] != ':')
            return error_set(err, "expected NODE:NODE,..., found \"%s\"", value);
        pair += length + (pair[length] == ',');
    }
    return *value ? 0 : error_set(err, "expected NODE:NODE,..., found nothing");
}

static int take_rounds(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct rounds_plan *)context)->rounds, err);
}

static int take_repeats(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, PATH_SAMPLES, &((struct rounds_plan *)context)->repeats, err);
}

static int take_bytes(const char *value, void *context, struct error *err)
{
    return option_size(value, 1, 1LL << 40, &((struct rounds_plan *)context)->sample_bytes, err);
}

static int take_quick(const char *value, void *context, struct error *err)
{
    (void)value;
    (void)err;
    ((struct rounds_plan *)context)->is_quick = true;
    return 0;
}

static int take_floor(const char *value, void *context, struct error *err)
{
    long percent;

    if (option_number(value, 1, 100, &percent, err) != 0)
        return -1;
    ((struct rounds_plan *)context)->floor_percent = (double)percent;
    return 0;
}

static const struct option_spec option_table[] = {
    {"rails", "LIST",
     "drive these interfaces: eth[1-2] (those the configuration or the\n"
     "node's hardware tells)",
     take_rails},
    {"pairs", "A:B,C:D", "only these pairs of nodes, one after the other", take_pairs},
    {"rounds", "K", "only the first K rounds of the tournament", take_rounds},
    {"repeats", "K", "samples of each bandwidth, 1 to 64 (5; quick 4)", take_repeats},
    {"bytes", "SIZE", "bytes of a sample (what takes 80 ms; quick 40 ms)", take_bytes},
    {"floor", "PERCENT", "fail a bandwidth below this share of the nominal speed", take_floor},
    {"quick", NULL, "fewer and shorter samples", take_quick},
    {NULL, NULL, NULL, NULL},
};

static const struct program_spec spec = {
    "muster-links", "links",
    "Measures latency and bandwidth between all pairs of nodes on every rail, in both directions.\n"
    "One rank per node works; further ones wait.",
    option_table, true};

int main(int argc, char **argv)
{
    struct rounds_plan options = {0};
    struct program program;

    channel_prepare();
    program_start(&program, &spec, &options, argc, argv);
    rounds_play(&program, &options);
    return program_finish(&program);
}
