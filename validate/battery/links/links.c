/* SPDX-License-Identifier: Apache-2.0 */
/* muster-links: latency and bandwidth of every pair of nodes on every rail, both directions. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "validate/battery/links/path/path.h"
#include "validate/battery/links/path/resources.h"
#include "validate/battery/links/rounds.h"

static int take_rails(const char *value, void *field, struct error *err)
{
    struct hostlist list;

    if (hostlist_expand(value, &list, err) != 0)
        return -1;
    hostlist_clear(&list);
    *(const char **)field = value;
    return 0;
}

static int take_pairs(const char *value, void *field, struct error *err)
{
    *(const char **)field = value;
    for (const char *pair = value; *pair;) {
        size_t length = strcspn(pair, ",+"), first = strcspn(pair, ":,+");

        if (first == 0 || first + 1 >= length || pair[first] != ':')
            return error_set(err, "expected NODE:NODE,..., found \"%s\"", value);
        pair += length + (pair[length] != '\0');
    }
    return *value ? 0 : error_set(err, "expected NODE:NODE,..., found nothing");
}

static int take_passes(const char *value, void *passes, struct error *err)
{
    return passes_parse(value, passes, err);
}

static int take_blocks(const char *value, void *blocks, struct error *err)
{
    blocks_clear(blocks);
    return blocks_parse(value, blocks, err);
}

static int take_verbs(const char *value, void *wanted, struct error *err)
{
    return verbs_parse(value, wanted, err);
}

static int take_mtu(const char *value, void *field, struct error *err)
{
    (void)err; /* one of the choices */
    *(int *)field = atoi(value);
    return 0;
}

#define FIELD(member) OPTION_FIELD(struct rounds_plan, member)

static const struct option_row option_table[] = {
    OPTION('\0', "rails", "LIST",
           "use these interfaces, such as eth[1-2], instead of the fabric's rails", CALL,
           FIELD(rails), .take = take_rails),
    OPTION('\0', "pairs", "A:B+C:D,E:F",
           "only these pairs of nodes; a plus joins pairs that are measured at once, a comma pairs "
           "one after the other",
           CALL, FIELD(pairs), .take = take_pairs),
    OPTION('\0', "passes", "LIST",
           "what to measure, in this order: pairs (rail after rail), together (all rails of a pair "
           "at once), uplinks (between blocks, all at once), bisection, verbs (RDMA rails, by "
           "libibverbs), local (each RDMA port with itself and those of its node)",
           CALL, FIELD(passes), .take = take_passes,
           .unset = "pairs,together; with --quick or --pairs: pairs"),
    OPTION('\0', "blocks", "LEAF=NODES[:K];...",
           "the nodes of each leaf switch, and how many pairs at once its uplinks may carry: "
           "leaf1=n[1-8]:2;leaf2=n[9-16]",
           CALL, FIELD(blocks), .take = take_blocks),
    OPTION('\0', "rounds", "K", "at most K rounds of each pass", LONG, FIELD(rounds),
           OPTION_RANGE(1, INT_MAX), .unset = "all"),
    OPTION('\0', "confidence", "P",
           "only enough rounds to find a bad node with this confidence, such as 0.99", CALL,
           FIELD(confidence), .take = option_confidence,
           .unset = "all rounds; 0.99 for the pass together"),
    OPTION('\0', "times", "K",
           "repeat the pass pairs (with --pairs also verbs) K times if time allows, each time with "
           "a different start: finds intermittent faults",
           LONG, FIELD(times), OPTION_RANGE(1, 100), .initial = "1"),
    OPTION('\0', "concurrency", "K", "at most K pairs at once, in sub-rounds", LONG,
           FIELD(concurrency), OPTION_RANGE(1, INT_MAX),
           .unset = "all; for nodes on one machine, four ranks per processor"),
    OPTION('\0', "leaf-concurrency", "K", "at most K pairs at once within a block", LONG,
           FIELD(leaf_concurrency), OPTION_RANGE(1, INT_MAX), .unset = "all"),
    OPTION('\0', "repeats", "K",
           "samples per bandwidth, 1 to 64; up to three times as many are added until the figure "
           "is certain",
           LONG, FIELD(repeats), OPTION_RANGE(1, PATH_SAMPLES), .unset = "5; quick 4"),
    OPTION('\0', "bytes", "SIZE", "size of a sample", SIZE, FIELD(sample_bytes),
           OPTION_RANGE(1, 1LL << 40), .unset = "80 ms' worth; quick 40 ms"),
    OPTION('\0', "floor", "PERCENT", "fail bandwidths below this percentage of the nominal speed",
           DOUBLE, FIELD(floor_percent), OPTION_RANGE(1, 100)),
    OPTION('\0', "verbs", "LIST", "pass verbs: some of write,read,send,ud", CALL,
           FIELD(verbs.wanted), .take = take_verbs, .unset = "all"),
    OPTION('\0', "queue-pairs", "K", "queue pairs per port at once", INT, FIELD(verbs.queue_pairs),
           OPTION_RANGE(1, VERBS_QUEUE_PAIRS), .initial = "1"),
    OPTION('\0', "gid-index", "I", "RoCE GID of all ports", INT, FIELD(verbs.gid_index),
           OPTION_RANGE(0, 255), .unset = "each rail's best"),
    OPTION('\0', "service-level", "SL", "InfiniBand service level, RoCE priority", INT,
           FIELD(verbs.service_level), OPTION_RANGE(0, 15), .initial = "0"),
    OPTION('\0', "traffic-class", "TC", "traffic class of the GRH; its upper six bits are the DSCP",
           INT, FIELD(verbs.traffic_class), OPTION_RANGE(0, 255), .initial = "0"),
    OPTION('\0', "mtu", "BYTES", "MTU of the connections", CALL, FIELD(verbs.mtu_bytes),
           .choices = "256|512|1024|2048|4096", .take = take_mtu,
           .unset = "the lower one of both ports"),
    OPTION('\0', "message", "SIZE", "message size for bandwidth over reliable connections", SIZE,
           FIELD(verbs.message_bytes), OPTION_RANGE(8, 64 << 20), .initial = "64K"),
    OPTION('\0', "quick", NULL, "fewer and shorter samples", FLAG, FIELD(is_quick)),
    OPTION('\0', "transports", NULL,
           "print the transports and devices that UCX offers on this node, and end", FLAG,
           FIELD(only_transports)),
    OPTION_END,
};

static int transports_print(const void *context)
{
    const struct rounds_plan *options = context;

    return options->only_transports ? resources_print("muster-links") : -1;
}

static const struct program_spec spec = {
    "muster-links",
    "links",
    "Measures latency and bandwidth between all pairs of nodes on every rail, in both directions. "
    "One rank per node measures; other ranks wait.",
    option_table,
    true,
    transports_print};

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
