/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/links.h"

#include <stdlib.h>
#include <string.h>

/* The pairs so far, and a hash of them, so that thousands are no matter. */
struct suspects {
    const struct links *links;
    const bool *is_suspect; /* [node] */
    bool has_uplink;        /* an uplink is one of them */
    bool *has_control;      /* [node], of each block the first one's */
    struct link_pair *pairs;
    size_t count, most, table_size;
    size_t *table; /* place of the pair + 1 */
};

static void add_pair(struct suspects *suspects, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    size_t slot = ((size_t)low * 2654435761U + (size_t)high) % suspects->table_size;

    for (; suspects->table[slot] > 0; slot = (slot + 1) % suspects->table_size) {
        const struct link_pair *pair = &suspects->pairs[suspects->table[slot] - 1];

        if ((pair->from == from && pair->to == to) || (pair->from == to && pair->to == from))
            return;
    }
    if (suspects->count == suspects->most)
        return;
    suspects->pairs[suspects->count++] = (struct link_pair){from, to};
    suspects->table[slot] = suspects->count;
}

static int block_of(const struct suspects *suspects, int node)
{
    return suspects->links->blocks ? suspects->links->blocks[node] : 0;
}

/* The next one from there on that nobody suspects; of the node's own block if it has to be. -1:
 * none. */
static int partner_from(const struct suspects *suspects, int node, int start, int but,
                        bool is_own_block)
{
    int nodes = (int)suspects->links->node_count;

    for (int step = 0; step < nodes; step++) {
        int partner = (start + step) % nodes;

        if (partner != node && partner != but && !suspects->is_suspect[partner] &&
            (!is_own_block || block_of(suspects, partner) == block_of(suspects, node)))
            return partner;
    }
    return -1;
}

/* The next one, of the node's own block where there is one; adds that pair. -1: none. */
static int add_neighbor(struct suspects *suspects, int node)
{
    int partner = partner_from(suspects, node, node + 1, -1, true);

    if (partner < 0)
        partner = partner_from(suspects, node, node + 1, -1, false);
    if (partner >= 0)
        add_pair(suspects, node, partner);
    return partner;
}

/* The control pair of the suspects of a block: nodes that nobody suspects, both of the block where
 * there are two, else the suspect's partners. What is slow there at the same time is no suspect's.
 * Where an uplink is suspected as well, besides a pair inside another block. */
static void add_control(struct suspects *suspects, int node, int first, int second)
{
    int nodes = (int)suspects->links->node_count, mate;

    if (suspects->has_control[block_of(suspects, node)])
        return;
    suspects->has_control[block_of(suspects, node)] = true;
    mate = partner_from(suspects, first, first + 1, node, true);
    if (mate < 0 || block_of(suspects, first) != block_of(suspects, node))
        mate = second;
    if (mate >= 0)
        add_pair(suspects, first, mate);
    for (int other = 0; other < nodes && suspects->has_uplink; other++) {
        mate = partner_from(suspects, other, other + 1, node, true);
        if (suspects->is_suspect[other] || mate < 0 ||
            block_of(suspects, other) == block_of(suspects, node))
            continue;
        add_pair(suspects, other, mate);
        break;
    }
}

/* Two partners that nobody suspects: one of its own block, and one half the list away; and a
 * control pair. */
static void add_partners(struct suspects *suspects, int node)
{
    int nodes = (int)suspects->links->node_count;
    int first = add_neighbor(suspects, node), second;

    if (first < 0)
        return;
    second = partner_from(suspects, node, node + nodes / 2, first, false);
    if (second >= 0)
        add_pair(suspects, node, second);
    add_control(suspects, node, first, second);
}

/* Pairs that showed it, of nodes that are not suspects themselves as far as there are any: two, or
 * four of what is slow on some of its paths only. */
static void add_examples(struct suspects *suspects, const struct finding *finding)
{
    int wanted = finding->is_intermittent ? 4 : 2;

    for (int allowed = 0; allowed < 2; allowed++)
        for (int i = 0; i < finding->example_count && wanted > 0; i++) {
            const struct link_pair *pair = &finding->examples[i];
            bool is_doubtful = suspects->is_suspect[pair->from] || suspects->is_suspect[pair->to];

            if (is_doubtful != (allowed == 1))
                continue;
            add_pair(suspects, pair->from, pair->to);
            wanted--;
        }
}

/* What is slow everywhere alike shows it alone as well: pairs of a leaf, from all over the list. */
static void add_sample(struct suspects *suspects)
{
    enum { SAMPLE = 4 };
    int nodes = (int)suspects->links->node_count;

    for (int i = 0; i < SAMPLE; i++)
        add_neighbor(suspects, i * nodes / SAMPLE);
}

/* A path; and of few nodes, where it was low alone as well or while nobody was held up, its two
 * ends with somebody else, for as long: an end that comes and goes was well with others when it was
 * looked at for a moment. */
static void add_path(struct suspects *suspects, const struct finding *finding)
{
    int ends[] = {finding->node, finding->peer};
    bool is_asked_of_ends = finding->again > 0 || finding->is_question;

    add_pair(suspects, ends[0], ends[1]);
    for (int k = 0; k < 2 && is_asked_of_ends && suspects->links->node_count <= LINKS_FEW; k++) {
        int partner = partner_from(suspects, ends[k], ends[k] + 1, ends[1 - k], false);

        if (partner >= 0)
            add_pair(suspects, ends[k], partner);
    }
}

static bool is_worth_it(const struct finding *finding)
{
    return finding->verdict >= VERDICT_UNKNOWN && finding->kind != FINDING_LIAR &&
           finding->kind != FINDING_MISPLACED;
}

/* With hosts that are slow when all rails run, the slowest pairs of others: where the machines were
 * busy these are as low, and only alone it shows who is not. */
static void add_controls(struct suspects *suspects)
{
    const struct links *links = suspects->links;
    size_t wanted = suspects->count + 2;
    double above = -1;

    while (suspects->count < wanted && suspects->count < suspects->most) {
        const struct link_sample *slowest = NULL;

        for (size_t i = 0; i < links->together_count; i++) {
            const struct link_sample *sample = &links->together[i];

            if (sample->mbps > above && (!slowest || sample->mbps < slowest->mbps) &&
                !suspects->is_suspect[sample->from] && !suspects->is_suspect[sample->to])
                slowest = sample;
        }
        if (!slowest)
            break;
        above = slowest->mbps;
        add_pair(suspects, slowest->from, slowest->to);
    }
}

static void add_all(struct suspects *suspects, const struct finding *findings, size_t count)
{
    bool has_host = false;

    for (size_t i = 0; i < count; i++)
        suspects->has_uplink = suspects->has_uplink || findings[i].kind == FINDING_UPLINK;
    for (size_t i = 0; i < count; i++) {
        const struct finding *finding = &findings[i];

        if (finding->kind == FINDING_PAIR)
            add_path(suspects, finding);
        else if (finding->kind == FINDING_UPLINK || finding->kind == FINDING_LEAF)
            add_examples(suspects, finding);
        else if (finding->kind == FINDING_FABRIC && finding->verdict == VERDICT_FAIL)
            add_sample(suspects);
        else if (finding->node >= 0 && is_worth_it(finding))
            add_partners(suspects, finding->node);
        has_host = has_host || (finding->kind == FINDING_HOST && is_worth_it(finding));
    }
    if (has_host)
        add_controls(suspects);
}

size_t links_suspect_pairs(const struct links *links, const struct finding *findings,
                           size_t finding_count, struct link_pair *pairs, size_t most)
{
    bool *is_suspect = calloc(links->node_count + 1, sizeof *is_suspect);
    struct suspects suspects = {.links = links,
                                .is_suspect = is_suspect,
                                .pairs = pairs,
                                .most = most,
                                .table_size = 2 * most + 1};

    suspects.has_control = calloc(links->node_count + 1, sizeof *suspects.has_control);
    suspects.table = calloc(suspects.table_size, sizeof *suspects.table);
    for (size_t i = 0; i < finding_count && is_suspect; i++)
        if (findings[i].node >= 0 && findings[i].kind != FINDING_PAIR && is_worth_it(&findings[i]))
            is_suspect[findings[i].node] = true;
    if (is_suspect && suspects.has_control && suspects.table)
        add_all(&suspects, findings, finding_count);
    free(is_suspect);
    free(suspects.has_control);
    free(suspects.table);
    return suspects.count;
}
