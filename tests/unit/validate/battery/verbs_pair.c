/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/verbs_pair.h"
#include "tests/unit/tap.h"
#include "validate/battery/verbs/flow.h"
#include "validate/battery/verbs/measure.h"

#include <stdlib.h>
#include <string.h>

/* Three rails of two nodes. The test is the end that sends first; its partner is like it in all,
 * and the ports are simulated. */

enum { RAILS = 3 };

static struct rdma_port ports[RAILS] = {
    {.device = "a", .port = 1}, {.device = "b", .port = 1}, {.device = "c", .port = 1}};
static struct rail fabric[RAILS] = {{.port = &ports[0]}, {.port = &ports[1]}, {.port = &ports[2]}};
static struct rails rails = {
    .own = {.count = RAILS, .rails = {{.name = "a"}, {.name = "b"}, {.name = "c"}}},
    .rails = {&fabric[0], &fabric[1], &fabric[2]}};
static struct link_results results;

static const char *unfit, *mute; /* the rail whose ends do not fit; whose writes do not pass */
static bool is_mute_together;    /* only at the same time as others */
static int read_mtu_bytes;       /* of the connections for reads */

static bool is_of(const struct verbs_port *port, const char *name)
{
    return name && *port->name == *name;
}

struct rail_infos *pair_run_open(struct pair_run *pair_run)
{
    struct rail_infos *theirs = malloc(sizeof *theirs);

    *theirs = rails.own;
    return theirs;
}

bool pair_run_match(const struct pair_run *pair_run, const struct rail_infos *theirs, int i,
                    int *own, int *other)
{
    *own = *other = i;
    return i < RAILS;
}

uint64_t pair_run_session(const struct pair_run *pair_run, int rail, int direction)
{
    return 1;
}

void pair_run_summarize(const struct path_result *path, struct link_result *result)
{
}

struct link_result *results_add(struct link_results *to, int from, int node, const char *rail)
{
    struct link_result *result = &to->items[to->count++];

    *result = (struct link_result){.from = from, .to = node};
    snprintf(result->rail, sizeof result->rail, "%s", rail);
    return result;
}

int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *idle)
{
    memcpy(in, out, size_bytes);
    return 0;
}

void control_disconnect(struct control *control)
{
}

void program_step(struct program *program)
{
}

void *watch_allocate(size_t count, size_t size)
{
    return calloc(count, size);
}

bool fabric_class_is_rdma(enum fabric_class class)
{
    return true;
}

int rail_is_up(const struct rail *rail)
{
    return 1;
}

void errors_read(const struct rail *rail, struct counters *counters, bool *can_count)
{
    *can_count = false;
}

void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors)
{
    *errors = (struct errors){{0}};
}

int verbs_port_open(const struct rdma_port *port, int gid_index, struct verbs_port **opened,
                    struct error *err)
{
    *opened = calloc(1, sizeof **opened);
    snprintf((*opened)->name, sizeof(*opened)->name, "%s", port->device);
    (*opened)->attributes.active_mtu = IBV_MTU_4096;
    return 0;
}

void verbs_port_close(struct verbs_port *port)
{
    free(port);
}

void verbs_port_address(const struct verbs_port *port, struct verbs_address *address)
{
    *address = (struct verbs_address){.mtu_bytes = 4096};
    snprintf(address->port, sizeof address->port, "%s", port->name);
}

int verbs_addresses_fit(const struct verbs_address *own, const char *node,
                        const struct verbs_address *peer, const char *peer_node, struct error *err)
{
    return unfit && *own->port == *unfit ? error_set(err, "does not fit") : 0;
}

int verbs_link_open(struct verbs_port *port, enum verb verb, const struct verbs_settings *settings,
                    size_t message_bytes, const struct verbs_gpu_memory *gpu,
                    struct verbs_link **link, struct error *err)
{
    *link = calloc(1, sizeof **link);
    (*link)->port = port;
    (*link)->verb = verb;
    (*link)->message_bytes = message_bytes;
    return 0;
}

void verbs_link_close(struct verbs_link *link)
{
    free(link);
}

void verbs_link_address(const struct verbs_link *link, struct verbs_address *address)
{
    verbs_port_address(link->port, address);
}

int verbs_link_connect(struct verbs_link *link, const struct verbs_address *peer,
                       const char *peer_node, int mtu_bytes, struct error *err)
{
    link->mtu_bytes = mtu_bytes > 0 ? mtu_bytes : 4096;
    if (link->verb == VERB_READ && is_of(link->port, mute))
        read_mtu_bytes = link->mtu_bytes;
    return 0;
}

int verbs_link_fill(struct verbs_link *link, struct error *err)
{
    return 0;
}

int verbs_mtu_bytes(enum ibv_mtu mtu)
{
    return 128 << mtu;
}

void verbs_gid_text(const union ibv_gid *gid, char *text, size_t size)
{
    *text = '\0';
}

int verbs_ping(struct verbs_link *link, const struct path_plan *plan, struct path_result *result,
               struct error *err)
{
    result->latency_count = 1;
    return 0;
}

int verbs_measure(struct verbs_stream *streams, int count, const struct path_plan *plan,
                  bool is_warmup, struct error *err)
{
    for (int i = 0; i < count; i++)
        if (streams[i].link->verb == VERB_WRITE && is_of(streams[i].link->port, mute) &&
            (count > 1 || !is_mute_together)) {
            streams[i].has_failed = true;
            return error_set(err, "no answer");
        }
    return 0;
}

void verbs_stream_summarize(const struct verbs_stream *stream, struct path_result *path)
{
}

int verbs_serve(void *service, struct pollfd *polled)
{
    return -1;
}

double verbs_damaged(const struct verbs_link *link, uint64_t session)
{
    return 0;
}

void verbs_write_pattern(struct verbs_link *link, uint64_t session)
{
}

/* Returns the rails with results of that scope that failed, or did not: "ac". */
static const char *found(enum verb_scope scope, bool has_failed)
{
    static char names[8 * RAILS];

    *names = '\0';
    for (int i = 0; i < results.count; i++)
        if (results.items[i].scope == (int)scope && (*results.items[i].failure != 0) == has_failed)
            strcat(names, results.items[i].rail);
    return names;
}

static void run(const char *unfit_rail, const char *mute_rail)
{
    const char *names[] = {"n1", "n2"};
    struct program program = {.node_name = names, .node_count = 2};
    struct verbs_settings settings = {
        .wanted = 1 << VERB_WRITE | 1 << VERB_READ, .queue_pairs = 1, .gid_index = -1};
    const struct path_plan plan = {.samples = 1};
    struct pair_run pair_run = {.program = &program,
                                .rails = &rails,
                                .plan = &plan,
                                .results = &results,
                                .partner = 1,
                                .is_first = true};

    unfit = unfit_rail;
    mute = mute_rail;
    results.count = 0;
    verbs_pair_run(&pair_run, &settings);
}

int main(void)
{
    results.items = calloc(64, sizeof *results.items);
    run(NULL, NULL);
    is_str(found(VERB_PAIR, false), "aabbcc", "each rail writes and reads");
    is_str(found(VERB_TOGETHER, false), "abc", "... and all write at once");
    run("b", NULL);
    is_str(found(VERB_PAIR, true), "b", "a rail whose ends do not fit fails once");
    is_str(found(VERB_TOGETHER, true), "", "... and not again with the others");
    is_str(found(VERB_TOGETHER, false), "ac", "... which are measured at once without it");
    run(NULL, "b");
    is_str(found(VERB_PAIR, true), "b", "a rail whose writes do not pass fails");
    is_int(read_mtu_bytes, 4096, "... as none pass with any MTU, reads have the full one");
    is_str(found(VERB_TOGETHER, true), "b", "... and of all at once only that one fails");
    is_mute_together = true;
    run(NULL, "c");
    is_str(found(VERB_PAIR, true), "", "a rail that fails only at the same time as others");
    is_str(found(VERB_TOGETHER, true), "c", "... is the only one of them that fails");
    free(results.items);
    return tap_done();
}
