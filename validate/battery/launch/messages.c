/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/launch/messages.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "validate/harness/pattern.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/harness/watch/sockets.h"
#include "validate/schedule/schedule.h"

/* Empty, less than a word, a word, MPI's eager and rendezvous protocols, and several segments. */
static const int sizes[] = {0, 1, 8, 4096, 65536, 1048576};

/* The first damaged message of a pair. */
struct damage {
    int from, to; /* ranks */
    int size, received;
    int offset; /* of the first wrong byte */
    int found, expected;
    int bad_messages; /* of this pair */
};

/* What a rank has received, or the ranks of a node, and how their messages left for other nodes. */
struct tally {
    int messages, damaged; /* damaged: pairs with damaged messages */
    double sent_bytes, tcp_bytes;
    int class; /* of the node's fabric */
    char rail[INVENTORY_NAME];
};

struct exchange {
    struct program *program;
    char *out, *in;
    struct damage *damages; /* as receiver, at most one per partner */
    struct tally tally;
};

static void check(struct exchange *exchange, int from, int size, int received)
{
    struct program *program = exchange->program;
    struct pattern pattern = pattern_of((uint32_t)from, (uint32_t)program->rank, (uint64_t)size, 1);
    int offset = (int)pattern_check(&pattern, exchange->in, (size_t)received);
    struct damage *last = NULL;

    if (exchange->tally.damaged > 0)
        last = &exchange->damages[exchange->tally.damaged - 1];
    exchange->tally.messages++;
    if (received == size && offset == size)
        return;
    if (last && last->from == from) {
        last->bad_messages++;
        return;
    }
    exchange->damages[exchange->tally.damaged++] = (struct damage){
        .from = from,
        .to = program->rank,
        .size = size,
        .received = received,
        .offset = offset,
        .found = offset < received ? (unsigned char)exchange->in[offset] : -1,
        .expected = pattern_byte(&pattern, (size_t)offset),
        .bad_messages = 1,
    };
}

static void exchange_with(struct exchange *exchange, int partner, int max_bytes)
{
    struct program *program = exchange->program;
    int rank = program->rank;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= max_bytes; i++) {
        struct pattern pattern =
            pattern_of((uint32_t)rank, (uint32_t)partner, (uint64_t)sizes[i], 1);
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int received;

        pattern_fill(&pattern, exchange->out, (size_t)sizes[i]);
        if (program_injects_lie(program) && sizes[i] > 0)
            exchange->out[sizes[i] / 2] ^= 0x10;
        memset(exchange->in, 0, (size_t)sizes[i]);
        MPI_Irecv(exchange->in, sizes[i], MPI_BYTE, partner, (int)i, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(exchange->out, sizes[i], MPI_BYTE, partner, (int)i, MPI_COMM_WORLD, &requests[1]);
        sleeping_wait_all(requests, statuses, 2, partner);
        if (program->node_of_rank[partner] != program->node)
            exchange->tally.sent_bytes += sizes[i];
        MPI_Get_count(&statuses[0], MPI_BYTE, &received);
        check(exchange, partner, sizes[i], received);
        watch_step();
    }
}

static void report_damage(const struct program *program, const struct damage *damage)
{
    const char *from = program->name_of[damage->from], *to = program->name_of[damage->to];
    char part[32];
    struct record record =
        RECORD(.test = "mpi.messages", .metric = "damaged", .node = from, .part = part, .peer = to,
               .value = damage->bad_messages, .unit = "count", .verdict = VERDICT_FAIL);

    snprintf(part, sizeof part, "rank %d", damage->from);
    if (damage->received != damage->size)
        output_report(record,
                      "rank %d on %s -> rank %d on %s: found %d bytes, expected a message of %d",
                      damage->from, from, damage->to, to, damage->received, damage->size);
    else
        output_report(
            record,
            "rank %d on %s -> rank %d on %s: byte %d of %d is 0x%02x, expected 0x%02x; %d "
            "messages of this pair are damaged",
            damage->from, from, damage->to, to, damage->offset, damage->size,
            (unsigned)damage->found, (unsigned)damage->expected, damage->bad_messages);
}

static void report_node(const char *node, const struct tally *tally)
{
    /* The pairs' own records blame the sender; this node only received. */
    output_report(RECORD(.test = "mpi.messages", .metric = "messages", .node = node,
                         .value = tally->messages, .unit = "count",
                         .verdict = tally->damaged > 0 ? VERDICT_NONE : VERDICT_PASS),
                  tally->damaged > 0 ? "%d messages received, damaged ones from %d ranks"
                                     : "%d messages received, all as sent",
                  tally->messages, tally->damaged);
}

/* Warns of messages that left by TCP although there is RDMA. By TCP they take no fewer bytes than
 * they have. */
static void report_transport(const char *node, const struct tally *tally)
{
    if (!fabric_class_is_rdma((enum fabric_class)tally->class) || tally->sent_bytes <= 0 ||
        tally->tcp_bytes < tally->sent_bytes / 2)
        return;
    output_report(
        RECORD(.test = "mpi.messages", .metric = "transport", .node = node, .part = tally->rail,
               .value = tally->tcp_bytes, .unit = "bytes", .verdict = VERDICT_WARN,
               .code = FAULT_TRANSPORT_FALLBACK),
        "%s: MPI sent its %.3g MB to other nodes by TCP, not by RDMA, although %s is available "
        "(%s); check UCX_TLS, OMPI_MCA_pml, OMPI_MCA_btl and similar settings in the environment "
        "and in MPI's files, and whether this MPI was built with UCX or libfabric",
        node, 1e-6 * tally->sent_bytes, tally->rail,
        fabric_class_name((enum fabric_class)tally->class));
}

/* Sets what the node has of its fabric. If `muster certify` itself has put MPI on TCP, as the
 * control of its tests, it has set MUSTER_MPI (certify_environment()). */
static void fabric_note(const struct fabric *fabric, struct tally *tally)
{
    tally->class = getenv("MUSTER_MPI") ? FABRIC_ETHERNET : (int)fabric->class;
    for (size_t i = 0; i < fabric->rail_count && !tally->rail[0]; i++)
        if (rail_is_up(&fabric->rails[i]))
            snprintf(tally->rail, sizeof tally->rail, "%s", fabric->rails[i].name);
}

/* Reports one record per node of what its ranks received, and of how their messages left. */
static void report_nodes(const struct program *program, const struct tally *tallies)
{
    for (int node = 0; node < program->node_count; node++) {
        int rank = program->leader_of_node[node];
        struct tally sum = tallies[rank];

        while (++rank < program->size) {
            if (program->node_of_rank[rank] != node)
                continue;
            sum.messages += tallies[rank].messages;
            sum.damaged += tallies[rank].damaged;
            sum.sent_bytes += tallies[rank].sent_bytes;
            sum.tcp_bytes += tallies[rank].tcp_bytes;
        }
        report_node(program->node_name[node], &sum);
        report_transport(program->node_name[node], &sum);
    }
}

/* Collects on rank 0 what each rank has found, and reports it. */
static void report_all(const struct exchange *exchange)
{
    const struct program *program = exchange->program;
    size_t size = (size_t)program->size;
    struct tally *tallies = watch_allocate(size, sizeof *tallies);
    struct damage *damages = watch_allocate(size, sizeof *damages);

    sleeping_gather(&exchange->tally, tallies, sizeof *tallies, MPI_COMM_WORLD);
    if (program->rank == 0)
        report_nodes(program, tallies);
    else if (exchange->tally.damaged > 0)
        sleeping_send(exchange->damages, exchange->tally.damaged * (int)sizeof *damages, 0, 100);
    for (int rank = 0; rank < program->size && program->rank == 0; rank++) {
        int damaged = tallies[rank].damaged;

        if (rank > 0 && damaged > 0)
            sleeping_receive(damages, damaged * (int)sizeof *damages, rank, 100);
        for (int i = 0; i < damaged; i++)
            report_damage(program, rank > 0 ? &damages[i] : &exchange->damages[i]);
    }
    free(tallies);
    free(damages);
}

/* Makes the schedule, the same on all ranks. */
static struct schedule *make_schedule(const struct program *program,
                                      const struct messages_plan *plan)
{
    struct schedule_request request = {.kind = SCHEDULE_PAIRS,
                                       .node_count = program->size,
                                       .most_rounds = plan->rounds,
                                       .confidence = plan->confidence};
    struct schedule *schedule;
    struct error err;

    if (plan->rounds == 0 && plan->confidence == 0 && program->size > MESSAGES_ALL_PAIRS_RANKS)
        request.confidence = plan->is_quick ? 0.99 : 0.999;
    if (schedule_make(&request, &schedule, &err) != 0)
        watch_fault("%s", err.text);
    return schedule;
}

static void report_coverage(const struct program *program, int rounds)
{
    int others = program->size - 1;
    int partners = rounds < others ? rounds : others;
    struct record record = RECORD(.test = "mpi.messages", .metric = "coverage",
                                  .value = others > 0 ? (double)partners / others : 1, .unit = "1",
                                  .verdict = VERDICT_PASS);

    if (partners == others)
        output_report(record, "all pairs of %d ranks exchanged messages", program->size);
    else
        output_report(record,
                      "each of %d ranks exchanged messages with %d of the %d others; a fault that "
                      "affects one pair only may be in an untested pair",
                      program->size, partners, others);
}

void messages_exchange(struct program *program, const struct messages_plan *plan)
{
    int max_bytes = plan->is_quick ? 65536 : 1048576;
    struct schedule *schedule = make_schedule(program, plan);
    int rounds = schedule_rounds(schedule);
    struct exchange exchange = {
        .program = program,
        .out = watch_allocate(1, (size_t)max_bytes),
        .in = watch_allocate(1, (size_t)max_bytes),
        .damages = watch_allocate((size_t)program->size + 1, sizeof *exchange.damages),
        .tally.tcp_bytes = -sockets_sent_bytes()};

    for (int round = 0; round < rounds; round++) {
        int partner = schedule_partner(schedule, round, program->rank);

        program_phase(program, "messages round %d of %d", round + 1, rounds);
        if (program->rank == 0)
            output_progress("messages, round %d of %d", round + 1, rounds);
        if (partner != SCHEDULE_BYE)
            exchange_with(&exchange, partner, max_bytes);
    }
    schedule_destroy(schedule);
    exchange.tally.tcp_bytes += sockets_sent_bytes();
    fabric_note(program->fabric, &exchange.tally);
    program_phase(program, "messages report");
    report_all(&exchange);
    if (program->rank == 0)
        report_coverage(program, rounds);
    free(exchange.out);
    free(exchange.in);
    free(exchange.damages);
}
