/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/faults.h"

#include <stddef.h>
#include <string.h>

const char *const fault_names[FAULT_KINDS] = {
    [FAULT_RAIL] = "rail slow",
    [FAULT_SENDS] = "rail slow to send",
    [FAULT_RECEIVES] = "rail slow to receive",
    [FAULT_DEAD] = "rail without connection",
    [FAULT_NODE] = "all rails of a node slow",
    [FAULT_HOST] = "host slow when all rails run",
    [FAULT_INTERMITTENT] = "rail slow at times",
    [FAULT_PAIR] = "path of a pair slow",
    [FAULT_LEAF] = "leaf switch at half speed",
    [FAULT_UPLINK] = "all uplinks of a leaf slow",
    [FAULT_CABLE] = "one cable of an uplink slow",
    [FAULT_TRUNK] = "trunk between two leaves slow",
    [FAULT_INCONSISTENT] = "node that lies",
    [FAULT_MISPLACED] = "node on another leaf",
    [FAULT_FABRIC] = "whole fabric at half speed",
};

static int below(uint64_t *random, int bound)
{
    return (int)(sim_random(random) % (uint64_t)bound);
}

static bool is_of_leaf(enum fault_kind kind)
{
    return kind == FAULT_LEAF || kind == FAULT_UPLINK || kind == FAULT_CABLE || kind == FAULT_TRUNK;
}

/* Returns whether a fault at that place would hide the new one, or be hidden by it. */
static bool is_taken(const struct fabric *fabric, const struct fault *faults, int count,
                     const struct fault *fault)
{
    for (int i = 0; i < count; i++) {
        const struct fault *other = &faults[i];
        int leaf = other->node >= 0 ? fabric->leaf[other->node] : other->leaf;
        int own = fault->node >= 0 ? fabric->leaf[fault->node] : fault->leaf;

        if (fault->node >= 0 && (fault->node == other->node || fault->node == other->peer))
            return true;
        if (fault->peer >= 0 && (fault->peer == other->node || fault->peer == other->peer))
            return true;
        if ((is_of_leaf(fault->kind) || is_of_leaf(other->kind)) &&
            (leaf == own || leaf == fault->peer_leaf || other->peer_leaf == own ||
             (other->peer_leaf >= 0 && other->peer_leaf == fault->peer_leaf)))
            return true;
    }
    return false;
}

static void slow_end(struct fabric *fabric, const struct fault *fault)
{
    for (int rail = 0; rail < fabric->rails; rail++) {
        size_t end = (size_t)fault->node * (size_t)fabric->rails + (size_t)rail;

        if (fault->rail >= 0 && rail != fault->rail)
            continue;
        if (fault->kind != FAULT_RECEIVES)
            fabric->sends[end] *= fault->share;
        if (fault->kind != FAULT_SENDS)
            fabric->receives[end] *= fault->share;
    }
}

static void slow_leaf(struct fabric *fabric, const struct fault *fault, uint64_t *random)
{
    int one = below(random, fabric->spines);

    for (int plane = 0; plane < fabric->planes; plane++) {
        int port = fault->leaf * fabric->planes + plane;

        if (fabric->planes > 1 && fault->rail >= 0 && plane != fault->rail)
            continue;
        if (fault->kind == FAULT_LEAF)
            fabric->port[port] = fault->share;
        for (int spine = 0; spine < fabric->spines && fault->kind != FAULT_LEAF; spine++) {
            size_t cable = (size_t)(port * fabric->spines + spine);

            if ((fault->kind == FAULT_CABLE && spine != one) ||
                (fault->kind == FAULT_TRUNK && spine != fault->peer_leaf))
                continue;
            fabric->up[cable] *= fault->share;
            fabric->down[cable] *= fault->share;
        }
    }
}

static void change(struct fabric *fabric, int *stated, const struct fault *fault, uint64_t *random)
{
    size_t ends = (size_t)fabric->nodes * (size_t)fabric->rails;

    switch (fault->kind) {
    case FAULT_RAIL:
    case FAULT_SENDS:
    case FAULT_RECEIVES:
    case FAULT_DEAD:
    case FAULT_NODE:
    case FAULT_INCONSISTENT: /* only a node with a fault has something to hide */
        slow_end(fabric, fault);
        break;
    case FAULT_HOST:
        fabric->host_sends[fault->node] *= fault->share;
        fabric->host_receives[fault->node] *= fault->share;
        break;
    case FAULT_PAIR:
        for (int back = 0; back < 2; back++)
            fabric->bad_pairs[fabric->bad_pair_count++] = (struct bad_pair){
                back ? fault->peer : fault->node, back ? fault->node : fault->peer, fault->rail,
                fault->share * fabric->nic_mbps};
        break;
    case FAULT_LEAF:
    case FAULT_UPLINK:
    case FAULT_CABLE:
    case FAULT_TRUNK:
        slow_leaf(fabric, fault, random);
        break;
    case FAULT_MISPLACED:
        stated[fault->node] = fault->leaf;
        break;
    case FAULT_FABRIC:
        for (size_t end = 0; end < ends; end++)
            if (fault->rail == (int)(end % (size_t)fabric->rails))
                fabric->sends[end] *= fault->share;
        break;
    default: /* INTERMITTENT affects samples, not the fabric */
        break;
    }
}

bool fault_inject(struct fabric *fabric, int *stated, enum fault_kind kind, struct fault *faults,
                  int *count, uint64_t *random)
{
    for (int tries = 0; tries < 200; tries++) {
        struct fault fault = {.kind = kind,
                              .node = below(random, fabric->nodes),
                              .rail = below(random, fabric->rails),
                              .peer = -1,
                              .leaf = -1,
                              .peer_leaf = -1,
                              .share = 0.25 + 0.45 * sim_uniform(random)};

        if (is_of_leaf(kind)) {
            fault.node = -1;
            fault.leaf = below(random, fabric->leaves);
            if (fabric->planes == 1)
                fault.rail = -1;
            /* the cable is as fast as several NICs: less than one of them needs */
            fault.share = kind == FAULT_LEAF ? 0.5
                                             : (0.1 + 0.15 * sim_uniform(random)) /
                                                   (fabric->planes == 1 ? fabric->rails : 1);
        }
        if (kind == FAULT_TRUNK) {
            fault.peer_leaf = below(random, fabric->leaves);
            fault.share /= fabric->leaf_size;
        }
        if (kind == FAULT_UPLINK && fabric->leaves == 2)
            fault.peer_leaf = 1 - fault.leaf; /* with two leaves both have the same uplinks */
        if (kind == FAULT_DEAD)
            fault.share = 0;
        if (kind == FAULT_NODE || kind == FAULT_HOST || kind == FAULT_INCONSISTENT ||
            kind == FAULT_MISPLACED)
            fault.rail = -1;
        if (kind == FAULT_HOST)
            fault.share = 0.55 + 0.1 * sim_uniform(random);
        if (kind == FAULT_INTERMITTENT)
            fault.often = 0.2 + 0.3 * sim_uniform(random);
        if (kind == FAULT_MISPLACED)
            fault.leaf = below(random, fabric->leaves);
        if (kind == FAULT_PAIR)
            fault.peer = below(random, fabric->nodes);
        if (kind == FAULT_FABRIC) {
            fault.node = -1;
            fault.share = 0.5;
        }
        if (fault.peer == fault.node && fault.peer >= 0)
            continue;
        if (fault.peer_leaf >= 0 && fault.peer_leaf == fault.leaf)
            continue;
        if (kind == FAULT_MISPLACED && fault.leaf == fabric->leaf[fault.node])
            continue;
        if (is_taken(fabric, faults, *count, &fault))
            continue;
        change(fabric, stated, &fault, random);
        faults[(*count)++] = fault;
        return true;
    }
    return false;
}

/* Returns whether the finding is at the place of the fault. */
static bool is_there(const struct finding *finding, const struct fault *fault)
{
    if (fault->kind == FAULT_FABRIC)
        return finding->kind == FINDING_FABRIC;
    if (fault->kind == FAULT_PAIR)
        return finding->node == fault->node || finding->node == fault->peer;
    if (fault->node >= 0)
        return finding->node == fault->node || (finding->peer >= 0 && finding->peer == fault->node);
    return finding->leaf >= 0 && finding->node < 0 &&
           (finding->leaf == fault->leaf || finding->peer_leaf == fault->leaf);
}

static bool is_rail(const struct finding *finding, const struct fault *fault)
{
    return finding->kind == FINDING_RAIL && finding->rail == fault->rail;
}

/* Returns whether the finding names exactly that part. */
static bool names(const struct finding *finding, const struct fault *fault)
{
    bool is_rails = finding->rail == fault->rail;

    switch (fault->kind) {
    case FAULT_RAIL:
    case FAULT_DEAD:
        return is_rail(finding, fault) && !finding->is_intermittent &&
               finding->ways == DIAGNOSE_BOTH;
    case FAULT_SENDS:
        return is_rail(finding, fault) && finding->ways == DIAGNOSE_SENDS;
    case FAULT_RECEIVES:
        return is_rail(finding, fault) && finding->ways == DIAGNOSE_RECEIVES;
    case FAULT_INTERMITTENT:
        return is_rail(finding, fault) && finding->is_intermittent;
    case FAULT_NODE:
        return finding->kind == FINDING_NODE;
    case FAULT_HOST:
        return finding->kind == FINDING_HOST;
    case FAULT_PAIR:
        return finding->kind == FINDING_PAIR && is_rails;
    case FAULT_LEAF:
        return finding->kind == FINDING_LEAF && is_rails;
    case FAULT_UPLINK:
        return finding->kind == FINDING_UPLINK && is_rails && !finding->is_intermittent &&
               (finding->peer_leaf < 0 || finding->peer_leaf == fault->peer_leaf ||
                finding->leaf == fault->peer_leaf);
    case FAULT_CABLE:
        return finding->kind == FINDING_UPLINK && finding->is_intermittent && is_rails;
    case FAULT_TRUNK:
        return finding->kind == FINDING_UPLINK &&
               (finding->peer_leaf == fault->leaf || finding->peer_leaf == fault->peer_leaf);
    case FAULT_INCONSISTENT:
        return finding->kind == FINDING_INCONSISTENT;
    case FAULT_MISPLACED:
        return finding->kind == FINDING_MISPLACED;
    default:
        return finding->kind == FINDING_FABRIC && is_rails;
    }
}

int fault_match(const struct finding *findings, int finding_count, struct fault *faults, int count,
                void (*print)(const struct finding *finding))
{
    int false_findings = 0;

    for (int i = 0; i < finding_count; i++) {
        const struct finding *finding = &findings[i];
        bool has_reason = false;

        for (int k = 0; k < count; k++) {
            if (!is_there(finding, &faults[k]))
                continue;
            has_reason = true;
            if (finding->verdict != VERDICT_FAIL &&
                !(faults[k].kind == FAULT_MISPLACED && finding->kind == FINDING_MISPLACED))
                continue;
            faults[k].is_found = true;
            faults[k].is_right = faults[k].is_right || names(finding, &faults[k]);
        }
        if (finding->verdict == VERDICT_FAIL && !has_reason) {
            false_findings++;
            if (print)
                print(finding);
        }
    }
    return false_findings;
}
