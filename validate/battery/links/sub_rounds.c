/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/sub_rounds.h"

#include <stdlib.h>
#include <string.h>

struct machine {
    char boot_id[sizeof((struct rail_infos *)0)->boot_id];
    int processors, node;
};

void sub_rounds_open(struct sub_rounds *subs, const struct rounds_plan *options, int node_count)
{
    size_t n = (size_t)node_count;

    *subs = (struct sub_rounds){.limits = {.pairs = (int)options->concurrency,
                                           .leaf_pairs = (int)options->leaf_concurrency,
                                           .uplink_pairs = options->blocks.uplink_pairs},
                                .node_count = node_count,
                                .machines = watch_allocate(n, sizeof *subs->machines),
                                .hosts = watch_allocate(n, sizeof *subs->hosts),
                                .host_ranks = watch_allocate(n, sizeof *subs->host_ranks),
                                .partners = watch_allocate(n, sizeof *subs->partners),
                                .numbers = watch_allocate(n, sizeof *subs->numbers)};
}

void sub_rounds_close(struct sub_rounds *subs)
{
    free(subs->machines);
    free(subs->hosts);
    free(subs->host_ranks);
    free(subs->partners);
    free(subs->numbers);
}

void sub_rounds_note(struct sub_rounds *subs, int node, const struct rail_infos *rail_infos)
{
    struct machine *machine = &subs->machines[node];

    memcpy(machine->boot_id, rail_infos->boot_id, sizeof machine->boot_id);
    machine->boot_id[sizeof machine->boot_id - 1] = '\0';
    machine->processors = rail_infos->processors;
    machine->node = node;
}

static int by_machine(const void *left, const void *right)
{
    const struct machine *a = left, *b = right;

    return strcmp(a->boot_id, b->boot_id) ?: a->node - b->node;
}

/* Nodes with the same boot ID are on one machine. A node that has none is on its own. */
void sub_rounds_ready(struct sub_rounds *subs)
{
    int host = -1;

    qsort(subs->machines, (size_t)subs->node_count, sizeof *subs->machines, by_machine);
    for (int i = 0; i < subs->node_count; i++) {
        const struct machine *machine = &subs->machines[i];

        if (i == 0 || !*machine->boot_id || strcmp(machine->boot_id, machine[-1].boot_id) != 0)
            host++;
        subs->hosts[machine->node] = host;
        subs->host_ranks[host] = SPLIT_RANKS_PER_PROCESSOR * machine->processors;
    }
    if (subs->limits.pairs == 0) {
        subs->limits.hosts = subs->hosts;
        subs->limits.host_ranks = subs->host_ranks;
    }
}

void sub_rounds_begin(struct sub_rounds *subs, const struct program *program,
                      struct pass_schedule *pass_schedule, int round)
{
    subs->is_split = !pass_is_for_all(pass_schedule->kind) && pass_schedule->kind != PASS_LOCAL;
    subs->count = 1;
    pass_schedule->sub_rounds = NULL;
    if (!subs->is_split)
        return;
    for (int node = 0; node < subs->node_count; node++)
        subs->partners[node] = pass_schedule_partner(program, pass_schedule, round, node);
    subs->limits.blocks = pass_schedule->blocks;
    subs->count = schedule_split(&subs->limits, subs->partners, subs->node_count, subs->numbers);
    if (subs->count < 0)
        watch_fault("out of memory");
    pass_schedule->sub_rounds = subs->count > 1 ? subs->numbers : NULL;
}

bool sub_rounds_includes(const struct sub_rounds *subs, int number, int node)
{
    return !subs->is_split || subs->numbers[node] == number;
}
