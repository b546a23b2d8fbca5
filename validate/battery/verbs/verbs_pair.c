/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/verbs_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/battery/verbs/flow.h"
#include "validate/battery/verbs/measure.h"

/* One rail of two nodes. */
struct verbs_pair {
    struct pair_run *pair_run;
    const struct verbs_settings *settings;
    const struct rail *rail;
    int index, own;                 /* of the rail: of the first node's, and of ours */
    const struct rail_info *theirs; /* of the partner's rail */
    struct verbs_port *port;
    struct verbs_address peer;
    int mtu_bytes;            /* of connections; 0: as the ports have it */
    uint64_t session;         /* of this direction: no other has the same data */
    double write_bytes_per_s; /* as measured alone */
};

/* What each end sends the other before it begins, and when it is done. */
struct message {
    int failed;
    char text[256];
    struct verbs_address address;
    struct errors errors;
    double messages, bytes_per_s; /* server: received; driver: messages sent */
    double damaged;
    int next_mtu_bytes; /* the driver's: once more, with this; 0: done */
};

enum request_kind { REQUEST_PING, REQUEST_STREAM, REQUEST_END };

static void fail(struct message *message, const struct error *err)
{
    message->failed = 1;
    snprintf(message->text, sizeof message->text, "%.255s", err->text);
}

static int exchange(struct verbs_pair *verbs_pair, const struct message *mine,
                    struct message *other)
{
    return control_exchange(verbs_pair->pair_run->control, mine, other, sizeof *mine, NULL);
}

static const char *peer_node(const struct verbs_pair *verbs_pair)
{
    return verbs_pair->pair_run->program->node_name[verbs_pair->pair_run->partner];
}

struct link_result *verbs_result_add(struct link_results *results, int from, int to,
                                     const struct rail_info *rail,
                                     const struct rail_info *peer_rail, enum verb verb,
                                     enum verb_scope scope)
{
    struct link_result *result = results_add(results, from, to, rail->name);

    result->is_verbs = 1;
    result->verb = (int)verb;
    result->scope = (int)scope;
    result->path_mtu_bytes = -1;
    result->nominal_mbps = fmin(rail->nominal_mbps, peer_rail->nominal_mbps);
    snprintf(result->peer_rail, sizeof result->peer_rail, "%s", peer_rail->name);
    return result;
}

static struct link_result *add_result(struct verbs_pair *verbs_pair, enum verb verb,
                                      enum verb_scope scope)
{
    struct pair_run *pair_run = verbs_pair->pair_run;

    return verbs_result_add(pair_run->results, pair_run->program->node, pair_run->partner,
                            &pair_run->rails->own.rails[verbs_pair->own], verbs_pair->theirs, verb,
                            scope);
}

/* ---------------------------------------------------------------- one verb, one direction */

static int send_request(struct verbs_pair *verbs_pair, enum request_kind kind)
{
    int request = (int)kind, ignored;

    return control_exchange(verbs_pair->pair_run->control, &request, &ignored, sizeof request,
                            NULL);
}

/* Drives one direction. Returns 0, or -1 if the partner was lost; a failure of the port is in
 * mine. */
static int drive(struct verbs_pair *verbs_pair, struct verbs_link *link, struct path_result *path,
                 struct message *mine, struct message *other)
{
    static const enum request_kind kinds[] = {REQUEST_PING, REQUEST_STREAM, REQUEST_STREAM};
    const struct path_plan *plan = verbs_pair->pair_run->plan;
    struct verbs_stream stream = {.link = link, .message_bytes = link->message_bytes};
    struct error err = {""};

    for (int i = 0; i < 3 && !mine->failed; i++) {
        double before = stream.sent_bytes;
        int failed;

        if (send_request(verbs_pair, kinds[i]) != 0)
            return -1;
        if (kinds[i] == REQUEST_PING)
            failed = verbs_ping(link, plan, path, &err);
        else
            failed = verbs_measure(&stream, 1, plan, i == 1, &err);
        mine->messages = (stream.sent_bytes - before) / (double)stream.message_bytes;
        if (failed)
            fail(mine, &err);
        if (send_request(verbs_pair, kinds[i]) != 0)
            return -1;
    }
    verbs_stream_summarize(&stream, path);
    if (send_request(verbs_pair, REQUEST_END) != 0)
        return -1;
    if (link->verb == VERB_READ && !mine->failed)
        path->damaged = verbs_damaged(link, verbs_pair->session);
    /* if the path has a smaller MTU than the ports, pings pass and messages do not */
    if (mine->failed && link->verb != VERB_UD && path->latency_count > 0 &&
        link->mtu_bytes > verbs_mtu_bytes(IBV_MTU_256))
        mine->next_mtu_bytes = link->mtu_bytes / 2;
    return exchange(verbs_pair, mine, other);
}

static int serve(struct verbs_pair *verbs_pair, struct verbs_link *link, struct message *mine,
                 struct message *other)
{
    struct verbs_service service = {.link = link};
    struct control_idle idle = {verbs_serve, &service};
    const int nothing = REQUEST_END;
    int request;

    for (;;) {
        bool is_passive = link->verb == VERB_READ;

        if (control_exchange(verbs_pair->pair_run->control, &nothing, &request, sizeof request,
                             NULL) != 0)
            return -1;
        if (request == REQUEST_END)
            break;
        service.echoes = request == REQUEST_PING;
        is_passive |= link->verb == VERB_WRITE && !service.echoes;
        service.messages = service.bytes = service.first_s = service.last_s = 0;
        if (control_exchange(verbs_pair->pair_run->control, &nothing, &request, sizeof request,
                             is_passive ? NULL : &idle) != 0)
            return -1;
    }
    if (service.has_failed)
        fail(mine, &service.err);
    mine->messages = service.messages;
    mine->bytes_per_s =
        service.last_s > service.first_s ? service.bytes / (service.last_s - service.first_s) : 0;
    /* where no datagram came there is nothing that could be damaged */
    if (link->verb != VERB_READ && (link->verb != VERB_UD || service.messages > 0))
        mine->damaged = verbs_damaged(link, verbs_pair->session);
    return exchange(verbs_pair, mine, other);
}

static size_t message_bytes(const struct verbs_pair *verbs_pair, enum verb verb)
{
    int mtu = verbs_mtu_bytes(verbs_pair->port->attributes.active_mtu);

    if (verbs_pair->peer.mtu_bytes < mtu)
        mtu = verbs_pair->peer.mtu_bytes;
    if (verbs_pair->mtu_bytes > 0 && verbs_pair->mtu_bytes < mtu)
        mtu = verbs_pair->mtu_bytes;
    return verb == VERB_UD ? (size_t)mtu : (size_t)verbs_pair->settings->message_bytes;
}

/* Opens both ends. Returns 0 if both are open, 1 if one is not (mine and other say why), -1 if the
 * partner was lost. */
static int open_link(struct verbs_pair *verbs_pair, enum verb verb, bool drives,
                     struct verbs_link **link, struct message *mine, struct message *other)
{
    struct error err = {""};

    *link = NULL;
    if (verbs_link_open(verbs_pair->port, verb, verbs_pair->settings,
                        message_bytes(verbs_pair, verb), NULL, link, &err) != 0)
        fail(mine, &err);
    else
        verbs_link_address(*link, &mine->address);
    if (exchange(verbs_pair, mine, other) != 0)
        return -1;
    if (!mine->failed && !other->failed) {
        if (verbs_link_connect(*link, &other->address, peer_node(verbs_pair), verbs_pair->mtu_bytes,
                               &err) != 0 ||
            (verb >= VERB_SEND && verbs_link_fill(*link, &err) != 0))
            fail(mine, &err);
        if (drives || verb == VERB_READ)
            verbs_write_pattern(*link, verbs_pair->session);
        if (exchange(verbs_pair, mine, other) != 0)
            return -1;
    }
    return mine->failed || other->failed;
}

/* Tries a direction with one MTU, and sets *used_mtu_bytes to it. The driver's next_mtu_bytes is 0,
 * or the MTU to try next. Returns 0, or -1 if the partner was lost. */
static int try_direction(struct verbs_pair *verbs_pair, enum verb verb, bool drives,
                         struct path_result *path, struct message *mine, struct message *other,
                         int *used_mtu_bytes)
{
    struct verbs_link *link;
    struct counters before, after;
    bool could_count, can_count;
    int rv;

    memset(path, 0, sizeof *path);
    errors_read(verbs_pair->rail, &before, &could_count);
    rv = open_link(verbs_pair, verb, drives, &link, mine, other);
    if (rv == 0) {
        *used_mtu_bytes = link->mtu_bytes;
        rv = drives ? drive(verbs_pair, link, path, mine, other)
                    : serve(verbs_pair, link, mine, other);
    }
    errors_read(verbs_pair->rail, &after, &can_count);
    errors_between(&before, &after, &mine->errors);
    verbs_link_close(link);
    return rv < 0 ? -1 : 0;
}

/* Completes the driver's result from what both ends found. */
static void conclude(struct verbs_pair *verbs_pair, enum verb verb, struct path_result *path,
                     const struct message *mine, const struct message *other, int mtu_bytes,
                     struct link_result *result)
{
    char gid[64] = "", arrived[64] = "";

    if (verb == VERB_UD && mine->messages > 0) {
        /* what came, not what left: a datagram may be lost. The parts are the driver's. */
        path->bandwidth_mbps = path->samples_mbps[0] = 8e-6 * other->bytes_per_s;
        path->sample_count = other->messages > 0;
        snprintf(arrived, sizeof arrived, ", %.2f %% of %.0f datagrams arrived",
                 100 * fmin(other->messages / mine->messages, 1), mine->messages);
    }
    pair_run_summarize(path, result);
    if (verb != VERB_READ)
        result->damaged = other->damaged;
    result->received_mbps = 8e-6 * other->bytes_per_s;
    result->errors = mine->errors;
    result->peer_errors = other->errors;
    result->packet_bytes = mtu_bytes;
    if (verbs_pair->port->gid_index >= 0)
        verbs_gid_text(&verbs_pair->port->gid, gid, sizeof gid);
    snprintf(result->transport, sizeof result->transport,
             "%d queue pair%s, MTU %d%s%s, SL %d, TC %d%s", verbs_pair->settings->queue_pairs,
             text_plural(verbs_pair->settings->queue_pairs), mtu_bytes, *gid ? ", GID " : "", gid,
             verbs_pair->settings->service_level, verbs_pair->settings->traffic_class, arrived);
    if (mine->failed || other->failed)
        snprintf(result->failure, sizeof result->failure, "%s",
                 mine->failed ? mine->text : other->text);
    else if (verb == VERB_UD && other->messages <= 0)
        snprintf(result->failure, sizeof result->failure,
                 "%s: all of %.0f datagrams of %d bytes were lost, shorter ones arrive: the path "
                 "has a smaller MTU; check the MTU of switches and interfaces",
                 verb_name(verb), mine->messages, mtu_bytes);
}

/* Measures one direction. If messages do not pass, it tries smaller packets. If these pass, a
 * switch on the path, or the other end, takes none as long as the two ports agreed on. */
static int measure_direction(struct verbs_pair *verbs_pair, enum verb verb, bool drives)
{
    struct link_result *result = drives ? add_result(verbs_pair, verb, VERB_PAIR) : NULL;
    struct path_result *path = watch_allocate(1, sizeof *path);
    struct message mine = {0}, other = {0};
    int first_mtu = 0, used_mtu = 0, rv, next;

    program_step(verbs_pair->pair_run->program);
    verbs_pair->session = pair_run_session(verbs_pair->pair_run, verbs_pair->index,
                                           drives == verbs_pair->pair_run->is_first) +
                          ((uint64_t)verb << 56);
    rv = try_direction(verbs_pair, verb, drives, path, &mine, &other, &used_mtu);
    if (rv == 0) /* errors are counted until after the last message */
        rv = exchange(verbs_pair, &mine, &other);
    first_mtu = used_mtu;
    if (result) {
        conclude(verbs_pair, verb, path, &mine, &other, used_mtu, result);
        if (rv != 0)
            snprintf(result->failure, sizeof result->failure, "the partner has gone");
        if (verb == VERB_WRITE && !*result->failure)
            verbs_pair->write_bytes_per_s = path->bandwidth_mbps / 8e-6;
    }
    while (rv == 0 && (next = drives ? mine.next_mtu_bytes : other.next_mtu_bytes) > 0) {
        mine = other = (struct message){0};
        verbs_pair->mtu_bytes = next;
        program_step(verbs_pair->pair_run->program);
        rv = try_direction(verbs_pair, verb, drives, path, &mine, &other, &used_mtu);
        if (rv == 0 && !mine.failed && !other.failed) {
            if (result)
                snprintf(
                    result->failure, sizeof result->failure,
                    "packets of MTU %d, which both ports support, are lost, packets of MTU %d "
                    "arrive: the path has a smaller MTU; check the MTU of switches and interfaces",
                    first_mtu, next);
            if (result)
                result->path_mtu_bytes = next;
            break;
        }
        verbs_pair->mtu_bytes = verbs_pair->settings->mtu_bytes; /* it is not the MTU */
    }
    free(path);
    return rv;
}

/* ---------------------------------------------------------------- one rail */

/* Opens the ports of both ends, and checks whether they can communicate. Returns 0 if so, 1 if not,
 * -1 if the partner was lost. */
static int open_verbs_pair(struct verbs_pair *verbs_pair)
{
    struct program *program = verbs_pair->pair_run->program;
    struct message mine = {0}, other = {0};
    struct error err = {""};
    struct link_result *result;
    int gid = verbs_pair->settings->gid_index >= 0 ? verbs_pair->settings->gid_index
                                                   : verbs_pair->rail->gid_index;
    bool is_own;
    int rv;

    if (verbs_port_open(verbs_pair->rail->port, gid, &verbs_pair->port, &err) != 0)
        fail(&mine, &err);
    else
        verbs_port_address(verbs_pair->port, &mine.address);
    is_own = mine.failed;
    rv = exchange(verbs_pair, &mine, &other);
    if (rv != 0)
        return -1;
    if (!mine.failed && !other.failed) {
        if (verbs_addresses_fit(&mine.address, program->node_name[program->node], &other.address,
                                peer_node(verbs_pair), &err) == 0) {
            verbs_pair->peer = other.address;
            return 0;
        }
        fail(&mine, &err);
    }
    /* each end reports its own failure, unless rails_open() has; the first one reports that of
     * both */
    if (mine.failed && (verbs_pair->pair_run->is_first || is_own) && rail_is_up(verbs_pair->rail)) {
        result = add_result(verbs_pair, VERB_WRITE, VERB_PAIR);
        result->is_state = 1;
        if (is_own)
            result->to = result->from; /* the partner has no part in it */
        snprintf(result->failure, sizeof result->failure, "%s", mine.text);
    }
    return 1;
}

static int measure_rail(struct verbs_pair *verbs_pair)
{
    int rv = open_verbs_pair(verbs_pair);

    if (rv != 0)
        return rv < 0 ? -1 : 0;
    for (int verb = 0; verb < VERB_KINDS && rv == 0; verb++)
        for (int direction = 0; direction < 2 && rv == 0; direction++)
            if (verbs_pair->settings->wanted >> verb & 1)
                rv = measure_direction(verbs_pair, (enum verb)verb,
                                       verbs_pair->pair_run->is_first == (direction == 0));
    return rv;
}

/* ---------------------------------------------------------------- all rails at once */

static void add_together(struct verbs_pair *verbs_pair, const struct verbs_stream *stream,
                         const char *failure)
{
    struct link_result *result = add_result(verbs_pair, VERB_WRITE, VERB_TOGETHER);
    struct path_result *path = watch_allocate(1, sizeof *path);

    verbs_stream_summarize(stream, path);
    pair_run_summarize(path, result);
    snprintf(result->failure, sizeof result->failure, "%.255s", failure);
    free(path);
}

static int together_direction(struct verbs_pair *verbs_pairs, int count, bool drives)
{
    struct verbs_stream streams[PAIR_RAILS] = {{0}};
    struct verbs_link *links[PAIR_RAILS] = {NULL};
    struct message mine = {0}, other = {0};
    struct error err = {""};
    int open = 0, rv = 0;

    program_step(verbs_pairs[0].pair_run->program);
    for (; open < count && rv == 0; open++) {
        mine = other = (struct message){0};
        rv = open_link(&verbs_pairs[open], VERB_WRITE, drives, &links[open], &mine, &other);
        streams[open].link = links[open];
        streams[open].bytes_per_s = verbs_pairs[open].write_bytes_per_s;
        streams[open].message_bytes = (size_t)verbs_pairs[open].settings->message_bytes;
    }
    if (rv > 0) {
        error_set(&err, "%s", mine.failed ? mine.text : other.text);
        streams[open - 1].has_failed = true;
    }
    if (rv == 0 && drives)
        verbs_measure(streams, count, verbs_pairs[0].pair_run->plan, false, &err);
    if (rv == 0)
        rv = send_request(&verbs_pairs[0], REQUEST_END);
    /* one that fails ends the others, which are not at fault */
    for (int i = 0; i < count && drives && rv >= 0; i++)
        if (!*err.text || streams[i].has_failed)
            add_together(&verbs_pairs[i], &streams[i], err.text);
    for (int i = 0; i < open; i++)
        verbs_link_close(links[i]);
    return rv < 0 ? -1 : 0;
}

/* ---------------------------------------------------------------- the pair run */

const char *verbs_missing(void)
{
    return NULL;
}

/* Sets up rail i, if it is RDMA on both ends. Returns whether it is, the same on both ends. */
static bool choose(struct pair_run *pair_run, const struct verbs_settings *settings,
                   const struct rail_infos *theirs, int i, struct verbs_pair *verbs_pair)
{
    const struct rail_infos *ours = &pair_run->rails->own;
    int own, other;

    if (!pair_run_match(pair_run, theirs, i, &own, &other) ||
        !fabric_class_is_rdma((enum fabric_class)ours->rails[own].class) ||
        !fabric_class_is_rdma((enum fabric_class)theirs->rails[other].class))
        return false;
    *verbs_pair = (struct verbs_pair){.pair_run = pair_run,
                                      .settings = settings,
                                      .rail = pair_run->rails->rails[own],
                                      .index = i,
                                      .own = own,
                                      .theirs = &theirs->rails[other],
                                      .mtu_bytes = settings->mtu_bytes};
    return true;
}

int verbs_pair_run(struct pair_run *pair_run, const struct verbs_settings *settings)
{
    struct verbs_pair *verbs_pairs = watch_allocate(PAIR_RAILS, sizeof *verbs_pairs);
    struct rail_infos *theirs = pair_run_open(pair_run);
    int count = 0, rv = theirs ? 0 : -1;

    for (int i = 0; i < PAIR_RAILS && rv == 0; i++) {
        if (!choose(pair_run, settings, theirs, i, &verbs_pairs[count]))
            continue;
        rv = measure_rail(&verbs_pairs[count]);
        if (verbs_pairs[count].peer.port[0])
            count++; /* both ends are open, and fit */
        else
            verbs_port_close(verbs_pairs[count].port);
    }
    for (int direction = 0; direction < 2 && rv == 0 && count > 1; direction++)
        rv = together_direction(verbs_pairs, count, pair_run->is_first == (direction == 0));
    for (int i = 0; i < count; i++)
        verbs_port_close(verbs_pairs[i].port);
    control_disconnect(pair_run->control);
    free(theirs);
    free(verbs_pairs);
    return rv;
}
