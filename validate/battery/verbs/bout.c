/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/verbs/bout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "validate/battery/verbs/flow.h"
#include "validate/battery/verbs/measure.h"
#include "validate/battery/watch/warden.h" /* clock_s() */

/* One rail of two nodes. */
struct bout {
    struct meeting *meeting;
    const struct verbs_settings *settings;
    const struct rail *rail;
    int index, own;             /* of the rail: of the first node's, and of ours */
    const struct offer *theirs; /* of the partner's rail */
    struct verbs_port *port;
    struct verbs_address peer;
    int mtu_bytes;            /* of connections; 0: as the ports have it */
    uint64_t session;         /* of this direction: no other has the same data */
    double write_bytes_per_s; /* as it was found alone */
};

/* What one end tells the other before it begins, and when it is through. */
struct word {
    int failed;
    char text[256];
    struct verbs_address address;
    struct errors errors;
    double messages, bytes_per_s; /* that came, of the server; left, of the driver */
    double damaged;
    int next_mtu_bytes; /* the driver's: once more, with this; 0: done */
};

enum order_kind { ORDER_PING, ORDER_STREAM, ORDER_END };

struct order {
    int kind;
};

static void fail(struct word *word, const struct error *err)
{
    word->failed = 1;
    snprintf(word->text, sizeof word->text, "%.255s", err->text);
}

static int swap(struct bout *bout, const struct word *mine, struct word *other)
{
    return lines_swap(bout->meeting->lines, mine, other, sizeof *mine, NULL);
}

static const char *peer_node(const struct bout *bout)
{
    return bout->meeting->program->node_name[bout->meeting->partner];
}

static struct link_result *add_result(struct bout *bout, enum verb verb, enum verb_scope scope)
{
    struct meeting *meeting = bout->meeting;
    const struct offer *own = &meeting->rails->own.rails[bout->own];
    struct link_result *result =
        results_add(meeting->results, meeting->program->node, meeting->partner, own->name);

    result->is_verbs = 1;
    result->verb = (int)verb;
    result->scope = (int)scope;
    result->path_mtu_bytes = -1;
    result->nominal_mbps = fmin(own->nominal_mbps, bout->theirs->nominal_mbps);
    snprintf(result->peer_rail, sizeof result->peer_rail, "%s", bout->theirs->name);
    return result;
}

/* ---------------------------------------------------------------- one verb, one direction */

static int say_order(struct bout *bout, enum order_kind kind)
{
    struct order order = {(int)kind}, ignored;

    return lines_swap(bout->meeting->lines, &order, &ignored, sizeof order, NULL);
}

/* The driver. Returns -1 when the partner has gone; a failure of the port is in mine. */
static int drive(struct bout *bout, struct verbs_link *link, struct path_result *path,
                 struct word *mine, struct word *other)
{
    static const enum order_kind kinds[] = {ORDER_PING, ORDER_STREAM, ORDER_STREAM};
    const struct path_plan *plan = bout->meeting->plan;
    struct verbs_stream stream = {.link = link, .message_bytes = link->message_bytes};
    struct error err = {""};

    for (int i = 0; i < 3 && !mine->failed; i++) {
        double before = stream.sent_bytes;
        int failed;

        if (say_order(bout, kinds[i]) != 0)
            return -1;
        if (kinds[i] == ORDER_PING)
            failed = verbs_ping(link, plan, path, &err);
        else
            failed = verbs_measure(&stream, 1, plan, i == 1, &err);
        mine->messages = (stream.sent_bytes - before) / (double)stream.message_bytes;
        if (failed)
            fail(mine, &err);
        if (say_order(bout, kinds[i]) != 0)
            return -1;
    }
    measure_take(&stream, path);
    if (say_order(bout, ORDER_END) != 0)
        return -1;
    if (link->verb == VERB_READ && !mine->failed)
        path->damaged = verbs_damaged(link, bout->session);
    /* over a smaller MTU than the ports' pings pass, and no message does */
    if (mine->failed && link->verb != VERB_UD && path->latency_count > 0 &&
        link->mtu_bytes > verbs_mtu_bytes(IBV_MTU_256))
        mine->next_mtu_bytes = link->mtu_bytes / 2;
    return swap(bout, mine, other);
}

static int serve(struct bout *bout, struct verbs_link *link, struct word *mine, struct word *other)
{
    struct verbs_service service = {.link = link};
    struct lines_idle idle = {verbs_serve, &service};
    const struct order nothing = {ORDER_END};
    struct order order;

    for (;;) {
        bool is_passive = link->verb == VERB_READ;

        if (lines_swap(bout->meeting->lines, &nothing, &order, sizeof order, NULL) != 0)
            return -1;
        if (order.kind == ORDER_END)
            break;
        service.echoes = order.kind == ORDER_PING;
        is_passive |= link->verb == VERB_WRITE && !service.echoes;
        service.messages = service.bytes = service.first_s = service.last_s = 0;
        if (lines_swap(bout->meeting->lines, &nothing, &order, sizeof order,
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
        mine->damaged = verbs_damaged(link, bout->session);
    return swap(bout, mine, other);
}

static size_t message_bytes(const struct bout *bout, enum verb verb)
{
    int mtu = verbs_mtu_bytes(bout->port->attributes.active_mtu);

    if (bout->peer.mtu_bytes < mtu)
        mtu = bout->peer.mtu_bytes;
    if (bout->mtu_bytes > 0 && bout->mtu_bytes < mtu)
        mtu = bout->mtu_bytes;
    return verb == VERB_UD ? (size_t)mtu : (size_t)bout->settings->message_bytes;
}

/* Opens both ends. Returns 0 when both are, 1 when one is not (mine and other say why), -1 when the
 * partner has gone. */
static int open_link(struct bout *bout, enum verb verb, bool drives, struct verbs_link **link,
                     struct word *mine, struct word *other)
{
    struct error err = {""};

    *link = NULL;
    if (verbs_link_open(bout->port, verb, bout->settings, message_bytes(bout, verb), link, &err) !=
        0)
        fail(mine, &err);
    else
        verbs_link_address(*link, &mine->address);
    if (swap(bout, mine, other) != 0)
        return -1;
    if (!mine->failed && !other->failed) {
        if (verbs_link_connect(*link, &other->address, peer_node(bout), bout->mtu_bytes, &err) !=
                0 ||
            (verb >= VERB_SEND && verbs_link_fill(*link, &err) != 0))
            fail(mine, &err);
        if (drives || verb == VERB_READ)
            verbs_write_pattern(*link, bout->session);
        if (swap(bout, mine, other) != 0)
            return -1;
    }
    return mine->failed || other->failed;
}

/* Once with one MTU. *next_mtu_bytes: 0, or try again with that. */
static int try_direction(struct bout *bout, enum verb verb, bool drives, struct path_result *path,
                         struct word *mine, struct word *other, int *used_mtu_bytes)
{
    struct verbs_link *link;
    struct counters before, after;
    bool could_count, can_count;
    int rv;

    memset(path, 0, sizeof *path);
    errors_read(bout->rail, &before, &could_count);
    rv = open_link(bout, verb, drives, &link, mine, other);
    if (rv == 0) {
        *used_mtu_bytes = link->mtu_bytes;
        rv = drives ? drive(bout, link, path, mine, other) : serve(bout, link, mine, other);
    }
    errors_read(bout->rail, &after, &can_count);
    errors_between(&before, &after, &mine->errors);
    verbs_link_close(link);
    return rv < 0 ? -1 : 0;
}

/* The driver's result from what both ends say. */
static void conclude(struct bout *bout, enum verb verb, struct path_result *path,
                     const struct word *mine, const struct word *other, int mtu_bytes,
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
    meeting_summarize(path, result);
    if (verb != VERB_READ)
        result->damaged = other->damaged;
    result->received_mbps = 8e-6 * other->bytes_per_s;
    result->errors = mine->errors;
    result->peer_errors = other->errors;
    result->packet_bytes = mtu_bytes;
    if (bout->port->gid_index >= 0)
        verbs_gid_text(&bout->port->gid, gid, sizeof gid);
    snprintf(result->transport, sizeof result->transport,
             "%d queue pair%s, MTU %d%s%s, SL %d, TC %d%s", bout->settings->queue_pairs,
             bout->settings->queue_pairs == 1 ? "" : "s", mtu_bytes, *gid ? ", GID " : "", gid,
             bout->settings->service_level, bout->settings->traffic_class, arrived);
    if (mine->failed || other->failed)
        snprintf(result->failure, sizeof result->failure, "%s",
                 mine->failed ? mine->text : other->text);
    else if (verb == VERB_UD && other->messages <= 0)
        snprintf(result->failure, sizeof result->failure,
                 "%s: of %.0f datagrams of %d bytes none arrived, though short ones do: something "
                 "on the way has a smaller MTU; check the switches' and interfaces' MTU",
                 verb_name(verb), mine->messages, mtu_bytes);
}

/* A message that does not pass is tried with smaller packets: then what is on the way, a switch or
 * the other end, takes none as long as the two ports agreed on. */
static int hold_direction(struct bout *bout, enum verb verb, bool drives)
{
    struct link_result *result = drives ? add_result(bout, verb, VERB_PAIR) : NULL;
    struct path_result *path = malloc(sizeof *path);
    struct word mine = {0}, other = {0};
    int first_mtu = 0, used_mtu = 0, rv, next = 0;

    if (!path)
        watch_fault("out of memory");
    program_step(bout->meeting->program);
    bout->session = meeting_session(bout->meeting, bout->index, drives == bout->meeting->is_first) +
                    ((uint64_t)verb << 56);
    rv = try_direction(bout, verb, drives, path, &mine, &other, &used_mtu);
    /* the errors that were counted are known after the last word */
    if (rv == 0) {
        struct word last = mine;

        rv = swap(bout, &last, &other);
    }
    first_mtu = used_mtu;
    if (result) {
        conclude(bout, verb, path, &mine, &other, used_mtu, result);
        if (rv != 0)
            snprintf(result->failure, sizeof result->failure, "the partner has gone");
        if (verb == VERB_WRITE && !*result->failure)
            bout->write_bytes_per_s = path->bandwidth_mbps / 8e-6;
    }
    for (next = drives ? mine.next_mtu_bytes : other.next_mtu_bytes; rv == 0 && next > 0;
         next = drives ? mine.next_mtu_bytes : other.next_mtu_bytes) {
        mine = other = (struct word){0};
        bout->mtu_bytes = next;
        program_step(bout->meeting->program);
        rv = try_direction(bout, verb, drives, path, &mine, &other, &used_mtu);
        if (rv == 0 && !mine.failed && !other.failed) {
            if (result)
                snprintf(result->failure, sizeof result->failure,
                         "packets of MTU %d, on which the two ports agree, do not arrive, those of "
                         "%d do: something between them has a smaller MTU; check the switches' "
                         "and interfaces' MTU",
                         first_mtu, next);
            if (result)
                result->path_mtu_bytes = next;
            break;
        }
    }
    free(path);
    return rv;
}

/* ---------------------------------------------------------------- one rail */

static void open_port(struct bout *bout, struct word *mine)
{
    const struct verbs_settings *settings = bout->settings;
    const struct rdma_port *port = bout->rail->port;
    int gid = settings->gid_index >= 0 ? settings->gid_index : bout->rail->gid_index;
    struct error err = {""};

    if (verbs_port_open(port, gid, &bout->port, &err) != 0)
        fail(mine, &err);
    else
        verbs_port_address(bout->port, &mine->address);
}

/* Both ends open their ports and look whether they can talk. */
static int open_bout(struct bout *bout)
{
    struct program *program = bout->meeting->program;
    struct word mine = {0}, other = {0};
    struct error err = {""};
    struct link_result *result;
    bool is_own;
    int rv;

    open_port(bout, &mine);
    is_own = mine.failed;
    rv = swap(bout, &mine, &other);
    if (rv != 0)
        return -1;
    if (!mine.failed && !other.failed) {
        bout->peer = other.address;
        if (verbs_addresses_fit(&mine.address, program->node_name[program->node], &other.address,
                                peer_node(bout), &err) == 0)
            return 0;
        fail(&mine, &err);
    }
    /* each end tells what is its own, but for a rail that rails_open() has told of; what is both's
     * the first one */
    if (mine.failed && (bout->meeting->is_first || is_own) && rail_is_up(bout->rail)) {
        result = add_result(bout, VERB_WRITE, VERB_PAIR);
        result->is_state = 1;
        if (is_own)
            result->to = result->from; /* the partner has no part in it */
        snprintf(result->failure, sizeof result->failure, "%s", mine.text);
    }
    return 1;
}

static int hold_rail(struct bout *bout)
{
    int rv = open_bout(bout);

    if (rv != 0)
        return rv < 0 ? -1 : 0;
    for (int verb = 0; verb < VERB_KINDS && rv == 0; verb++)
        for (int direction = 0; direction < 2 && rv == 0; direction++)
            if (bout->settings->is_wanted[verb])
                rv = hold_direction(bout, (enum verb)verb,
                                    bout->meeting->is_first == (direction == 0));
    return rv;
}

/* ---------------------------------------------------------------- all rails at once */

static void add_together(struct bout *bout, const struct verbs_stream *stream, const char *failure)
{
    struct link_result *result = add_result(bout, VERB_WRITE, VERB_TOGETHER);
    struct path_result *path = calloc(1, sizeof *path);

    if (!path)
        watch_fault("out of memory");
    measure_take(stream, path);
    meeting_summarize(path, result);
    snprintf(result->failure, sizeof result->failure, "%.255s", failure);
    free(path);
}

static int together_direction(struct bout *bouts, int count, bool drives)
{
    struct verbs_stream streams[MEETING_RAILS] = {{0}};
    struct verbs_link *links[MEETING_RAILS] = {NULL};
    struct word mine = {0}, other = {0};
    struct error err = {""};
    int open = 0, rv = 0;

    program_step(bouts[0].meeting->program);
    for (; open < count && rv == 0; open++) {
        mine = other = (struct word){0};
        rv = open_link(&bouts[open], VERB_WRITE, drives, &links[open], &mine, &other);
        streams[open].link = links[open];
        streams[open].bytes_per_s = bouts[open].write_bytes_per_s;
        streams[open].message_bytes = (size_t)bouts[open].settings->message_bytes;
    }
    if (rv > 0)
        error_set(&err, "%s", mine.failed ? mine.text : other.text);
    if (rv == 0 && drives)
        verbs_measure(streams, count, bouts[0].meeting->plan, false, &err);
    if (rv == 0)
        rv = say_order(&bouts[0], ORDER_END);
    for (int i = 0; i < count && drives && rv >= 0; i++)
        add_together(&bouts[i], &streams[i], err.text);
    for (int i = 0; i < open; i++)
        verbs_link_close(links[i]);
    return rv < 0 ? -1 : 0;
}

/* ---------------------------------------------------------------- the meeting */

const char *verbs_missing(void)
{
    return NULL;
}

/* Both ends come to the same answer. */
static bool choose(struct meeting *meeting, const struct verbs_settings *settings,
                   const struct offers *theirs, int i, struct bout *bout)
{
    const struct offers *first = meeting->is_first ? &meeting->rails->own : theirs;
    const struct offers *second = meeting->is_first ? theirs : &meeting->rails->own;
    int j = i < first->count ? offers_match(first, i, second) : -1, own, other;

    if (j < 0 || !fabric_class_is_rdma((enum fabric_class)first->rails[i].class) ||
        !fabric_class_is_rdma((enum fabric_class)second->rails[j].class))
        return false;
    own = meeting->is_first ? i : j;
    other = meeting->is_first ? j : i;
    *bout = (struct bout){.meeting = meeting,
                          .settings = settings,
                          .rail = meeting->rails->rails[own],
                          .index = i,
                          .own = own,
                          .theirs = &theirs->rails[other],
                          .mtu_bytes = settings->mtu_bytes};
    return true;
}

int verbs_hold(struct meeting *meeting, const struct verbs_settings *settings)
{
    struct bout *bouts = calloc(MEETING_RAILS, sizeof *bouts);
    struct offers *theirs = meeting_open(meeting);
    int count = 0, rv = theirs ? 0 : -1;

    if (!bouts)
        watch_fault("out of memory");
    for (int i = 0; i < MEETING_RAILS && rv == 0; i++) {
        if (!choose(meeting, settings, theirs, i, &bouts[count]))
            continue;
        rv = hold_rail(&bouts[count]);
        if (bouts[count].peer.port[0])
            count++; /* both ends are open */
        else
            verbs_port_close(bouts[count].port);
    }
    for (int direction = 0; direction < 2 && rv == 0 && count > 1; direction++)
        rv = together_direction(bouts, count, meeting->is_first == (direction == 0));
    for (int i = 0; i < count; i++)
        verbs_port_close(bouts[i].port);
    lines_part(meeting->lines);
    free(theirs);
    free(bouts);
    return rv;
}
