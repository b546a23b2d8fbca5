/* SPDX-License-Identifier: Apache-2.0 */
/* muster-links: latency and bandwidth of every pair of nodes on every rail, both directions. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "validate/battery/links/path/path.h"
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
        size_t length = strcspn(pair, ",+"), first = strcspn(pair, ":,+");

        if (first == 0 || first + 1 >= length || pair[first] != ':')
            return error_set(err, "expected NODE:NODE,..., found \"%s\"", value);
        pair += length + (pair[length] != '\0');
    }
    return *value ? 0 : error_set(err, "expected NODE:NODE,..., found nothing");
}

static int take_rounds(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct rounds_plan *)context)->rounds, err);
}

static int take_concurrency(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct rounds_plan *)context)->concurrency, err);
}

static int take_leaf_concurrency(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct rounds_plan *)context)->leaf_concurrency,
                         err);
}

static int take_uplink_concurrency(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct rounds_plan *)context)->uplink_concurrency,
                         err);
}

static int take_repeats(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, PATH_SAMPLES, &((struct rounds_plan *)context)->repeats, err);
}

static int take_times(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, 100, &((struct rounds_plan *)context)->times, err);
}

static int take_bytes(const char *value, void *context, struct error *err)
{
    return option_size(value, 1, 1LL << 40, &((struct rounds_plan *)context)->sample_bytes, err);
}

static int take_confidence(const char *value, void *context, struct error *err)
{
    return option_confidence(value, &((struct rounds_plan *)context)->confidence, err);
}

static int take_passes(const char *value, void *context, struct error *err)
{
    return passes_parse(value, &((struct rounds_plan *)context)->passes, err);
}

static int take_blocks(const char *value, void *context, struct error *err)
{
    struct rounds_plan *plan = context;

    blocks_clear(&plan->blocks);
    return blocks_parse(value, &plan->blocks, err);
}

static struct verbs_settings *verbs_of(void *context)
{
    return &((struct rounds_plan *)context)->verbs;
}

static int take_verbs(const char *value, void *context, struct error *err)
{
    return verbs_parse(value, verbs_of(context), err);
}

static int take_number(const char *value, long low, long high, int *number, struct error *err)
{
    long found;

    if (option_number(value, low, high, &found, err) != 0)
        return -1;
    *number = (int)found;
    return 0;
}

static int take_queue_pairs(const char *value, void *context, struct error *err)
{
    return take_number(value, 1, VERBS_QUEUE_PAIRS, &verbs_of(context)->queue_pairs, err);
}

static int take_gid_index(const char *value, void *context, struct error *err)
{
    return take_number(value, 0, 255, &verbs_of(context)->gid_index, err);
}

static int take_service_level(const char *value, void *context, struct error *err)
{
    return take_number(value, 0, 15, &verbs_of(context)->service_level, err);
}

static int take_traffic_class(const char *value, void *context, struct error *err)
{
    return take_number(value, 0, 255, &verbs_of(context)->traffic_class, err);
}

static int take_mtu(const char *value, void *context, struct error *err)
{
    int *mtu = &verbs_of(context)->mtu_bytes;

    if (take_number(value, 256, 4096, mtu, err) != 0)
        return -1;
    return (*mtu & (*mtu - 1)) == 0
               ? 0
               : error_set(err, "expected 256, 512, 1024, 2048 or 4096, found \"%s\"", value);
}

static int take_message(const char *value, void *context, struct error *err)
{
    return option_size(value, 8, 64 << 20, &verbs_of(context)->message_bytes, err);
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
    {"pairs", "A:B+C:D,E:F",
     "only these pairs of nodes: a plus joins those to be measured at\n"
     "once, others are one after the other",
     take_pairs},
    {"passes", "LIST",
     "what to measure, in this order: pairs (rail after rail), together\n"
     "(all rails of a pair at once), uplinks (between blocks, all at\n"
     "once), bisection, verbs (RDMA rails, by libibverbs), local (each\n"
     "RDMA port with itself and those of its node)\n"
     "(pairs,together; quick, or with --pairs: pairs)",
     take_passes},
    {"blocks", "LEAF=NODES;...", "the nodes of each leaf switch: leaf1=n[1-2];leaf2=n[3-4]",
     take_blocks},
    {"rounds", "K", "at most K rounds of each pass (all)", take_rounds},
    {"confidence", "P",
     "only as many rounds as name a bad node with this confidence, 0.99\n"
     "(all; of the pass together 0.99)",
     take_confidence},
    {"times", "K",
     "the pass pairs so often, 1 to 100, as long as there is time, each\n"
     "time beginning elsewhere: what comes and goes shows at one of\n"
     "several moments (1)",
     take_times},
    {"concurrency", "K",
     "at most K pairs at once, in sub-rounds (all; of the nodes of one\n"
     "machine four ranks for each of its processors)",
     take_concurrency},
    {"leaf-concurrency", "K", "at most K pairs at once within a block (all)",
     take_leaf_concurrency},
    {"uplink-concurrency", "K", "at most K pairs at once across the uplinks of a block (all)",
     take_uplink_concurrency},
    {"repeats", "K",
     "samples of each bandwidth at first, 1 to 64 (5; quick 4); more\n"
     "follow, up to three times that, until the figure is certain",
     take_repeats},
    {"bytes", "SIZE", "bytes of a sample (what takes 80 ms; quick 40 ms)", take_bytes},
    {"floor", "PERCENT", "fail a bandwidth below this share of the nominal speed", take_floor},
    {"verbs", "LIST", "of the pass verbs: some of write, read, send, ud (all)", take_verbs},
    {"queue-pairs", "K", "queue pairs of each port at once, 1 to 64 (1)", take_queue_pairs},
    {"gid-index", "I", "RoCE GID of all ports (each rail's best)", take_gid_index},
    {"service-level", "SL", "InfiniBand service level, RoCE priority (0)", take_service_level},
    {"traffic-class", "TC", "traffic class of the GRH; its upper six bits are the DSCP (0)",
     take_traffic_class},
    {"mtu", "BYTES", "MTU of the connections, 256 to 4096 (the lower of both ports')", take_mtu},
    {"message", "SIZE", "message of bandwidths over reliable connections (64K)", take_message},
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
    struct rounds_plan options = {.leaves_mpi = true, .verbs = verbs_defaults()};
    struct program program;
    int status;

    channel_prepare();
    program_start(&program, &spec, &options, argc, argv);
    rounds_run(&program, &options);
    status = program_finish(&program);
    blocks_clear(&options.blocks);
    return status;
}
