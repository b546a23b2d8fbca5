/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/diagnose.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "validate/diagnose/explanation.h"

/* The search for rivals of a part begins with at most BEGINNINGS other parts. An explanation whose
 * log probability is lower than the best by `negligible_nats` does not matter. */
enum { BEGINNINGS = 10, REVISIONS = 3 };
static const double negligible_nats = 16;
/* A rival is given up if the sum of what its parts gain, each alone, is below this share of what
 * the part gains. */
static const double rival_share_least = 0.7;
/* The search is repeated, up to ROUNDS times in all, while the share of dips falls below this
 * fraction of the one before. */
enum { ROUNDS = 3 };
static const double dips_ratio_most = 0.6;
/* Log odds of parts that many nodes share are computed this far below the limit: they are bounds
 * where the explanation has fewer parts, see bound_large(). */
static const double large_margin = 2e3;

struct search {
    struct observations observations;
    struct explanation explanation;
    struct diagnosis *diagnosis;
    struct candidate *candidates;        /* candidates that were not put in */
    size_t candidate_count, large_count; /* number of parts that many nodes share: the first ones */
    bool *is_allowed; /* [nodes, the fabric, leaves] whether their parts are candidates */
    bool is_out_of_memory;
};

static bool is_among(const struct part *parts, size_t count, const struct part *part)
{
    for (size_t i = 0; i < count; i++)
        if (part_is_same(&parts[i], part))
            return true;
    return false;
}

/* Lists of candidates are heaps, the greatest value first. Moves the one at index `at` down. */
static void heap_sift(struct candidate *parts, size_t count, size_t at)
{
    struct candidate moved = parts[at];

    for (size_t next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && parts[next + 1].value > parts[next].value)
            next++;
        if (parts[next].value <= moved.value)
            break;
        parts[at] = parts[next];
    }
    parts[at] = moved;
}

static void heap_make(struct candidate *parts, size_t count)
{
    for (size_t at = count / 2; at-- > 0;)
        heap_sift(parts, count, at);
}

static struct candidate heap_pop(struct candidate *parts, size_t *count)
{
    struct candidate first = parts[0];

    parts[0] = parts[--*count];
    if (*count > 0)
        heap_sift(parts, *count, 0);
    return first;
}

/* Takes the likeliest part out of the list, weighed beside the explanation as it is. Parts of the
 * explanation leave the list. Each part is bounded before it is weighed, because the parts put in
 * since may explain its samples. Returns whether there is a part above least. */
static bool pop_likeliest(struct explanation *explanation, struct candidate *parts, size_t *count,
                          double least, struct candidate *likeliest)
{
    while (*count > 0 && parts->value > least) {
        bool is_bounded = parts->stamp == (long)explanation->count;
        double known = least > 0 ? least : fmin(least, log(MODEL_ASKED));

        if (is_among(explanation->parts, explanation->count, &parts->part)) {
            heap_pop(parts, count);
            continue;
        }
        if (is_bounded && parts->depths == MODEL_DEPTHS) {
            *likeliest = heap_pop(parts, count);
            return true;
        }
        if (part_is_large(&parts->part) && least <= 0 && !is_bounded)
            known -= large_margin;
        parts->depths = is_bounded ? MODEL_DEPTHS : MODEL_GROUPS;
        parts->value = explanation_weigh(explanation, &parts->part, parts->depths, known);
        parts->stamp = (long)explanation->count;
        heap_sift(parts, *count, 0);
    }
    return false;
}

/* Puts in parts of the list, the best first, while they make the explanation likelier: at most
 * `most` parts, and only as long as they may raise the score by `gain` in all. */
static void complete(struct explanation *explanation, struct candidate *parts, size_t *count,
                     size_t most, double gain)
{
    double begin = explanation_score(explanation);
    struct candidate one;

    heap_make(parts, *count);
    for (; most > 0; most--) {
        double needed = gain - (explanation_score(explanation) - begin);

        if (!pop_likeliest(explanation, parts, count, fmax(needed / (double)most, 0), &one) ||
            !explanation_add(explanation, &one.part))
            return;
    }
}

/* Explanations of the same samples. */
struct rivals {
    struct rival items[BEGINNINGS + 1];
    int count;
};

static void add_rival(struct rivals *rivals, const struct explanation *explanation, size_t base)
{
    struct rival *rival = &rivals->items[rivals->count++];

    *rival = (struct rival){.score = explanation_score(explanation)};
    for (size_t i = base; i < explanation->count && rival->count < DIAGNOSE_RIVAL_PARTS; i++)
        rival->parts[rival->count++] = explanation->parts[i];
}

/* Returns the element of search.is_allowed for a node or leaf of the part (-1: the fabric). */
static bool *allowed_of(const struct search *search, const struct part *part, int index)
{
    size_t large = part_is_large(part) ? search->observations.network->node_count + 1 : 0;

    return search->is_allowed + large + index;
}

/* Sets search->is_allowed: nodes that have more samples than in the diagnosis before, their leaves,
 * the fabric if most nodes have more, and the nodes and leaves of the parts in the diagnosis
 * before. Sets diagnosis->measured. Returns 0, or -1 if memory is out. */
static int find_allowed(struct search *search, const struct diagnosis *before)
{
    const struct observations *observations = &search->observations;
    const struct diagnose_network *network = observations->network;
    size_t nodes = network->node_count, leaves = network->leaf_count, fresh = 0;
    unsigned *measured = calloc(nodes + 1, sizeof *measured);

    search->diagnosis->measured = measured;
    search->is_allowed = calloc(nodes + 1 + leaves, sizeof *search->is_allowed);
    if (!measured || !search->is_allowed)
        return -1;
    for (const struct pair *pair = observations->pairs;
         pair < observations->pairs + observations->pair_count; pair++) {
        measured[pair->low] += pair->end - pair->begin;
        measured[pair->high] += pair->end - pair->begin;
    }
    for (size_t i = 0; i < nodes; i++) {
        if (before->measured && before->measured[i] == measured[i])
            continue;
        search->is_allowed[i] = true;
        if (leaves > 0)
            search->is_allowed[nodes + 1 + (size_t)network->leaves[i]] = true;
        fresh++;
    }
    search->is_allowed[nodes] = 2 * fresh > nodes;
    for (size_t i = 0; i < before->all; i++)
        *allowed_of(search, &before->items[i].part, before->items[i].part.index) = true;
    return 0;
}

static bool is_allowed(const struct search *search, const struct part *part)
{
    return *allowed_of(search, part, part->index) ||
           (part->peer >= 0 && *allowed_of(search, part, part->peer));
}

/* Bounds a part that many nodes share: it gains at most what it gained beside all parts, plus what
 * it may gain on the samples of the part that was taken out. */
static void bound_large(const struct search *search, struct candidate *one)
{
    double prior = part_log_prior(search->observations.network, &one->part);

    for (size_t i = 0; i < search->large_count && part_is_large(&one->part); i++)
        if (part_is_same(&search->candidates[i].part, &one->part) &&
            search->candidates[i].part.ways == one->part.ways)
            one->value = fmin(one->value, search->candidates[i].value + one->value - prior);
}

/* Whether a low sample of the pair passes the part. */
static bool is_low_through(const struct observations *observations, const struct part *part,
                           const struct pair *pair)
{
    for (unsigned i = pair->begin; i < pair->end; i++)
        if (observations->items[i].is_low &&
            part_passes(observations->network, part, pair, &observations->items[i]))
            return true;
    return false;
}

/* Finds rivals of a part that was taken out: what else explains its low samples. score: of the
 * explanation with the part. In a rival of a part that few nodes share, a part that many nodes
 * share can only be the first one: two of these do not look like one node. */
static void find_rivals(struct search *search, const struct part *part, double score,
                        struct rivals *rivals)
{
    struct explanation *explanation = &search->explanation;
    const struct observations *observations = &search->observations;
    unsigned *pairs = explanation->scratch, low = 0, all = part_pairs(observations, part, pairs);
    size_t base = explanation->count, kept = 0;
    long found;
    struct candidate *others = NULL, *candidates, picked[BEGINNINGS];
    double needed, least;
    int beginnings = 0;

    for (unsigned i = 0; i < all; i++)
        if (is_low_through(observations, part, &observations->pairs[pairs[i]]))
            pairs[low++] = pairs[i];
    rivals->count = 0;
    add_rival(rivals, explanation, base);
    needed = rival_share_least * (score - rivals->items[0].score - negligible_nats);
    found = part_candidates(observations, pairs, low, &others);
    candidates = malloc((size_t)(found + BEGINNINGS) * sizeof *candidates);
    search->is_out_of_memory |= found < 0 || !candidates;
    for (long i = 0; i < found; i++)
        if (!part_is_same(&others[i].part, part) &&
            (!part_is_large(&others[i].part) || is_allowed(search, &others[i].part))) {
            bound_large(search, &others[i]);
            others[kept++] = others[i];
        }
    /* later parts of a rival explain less than its first one */
    least = fmax(needed / DIAGNOSE_RIVAL_PARTS, -negligible_nats);
    heap_make(others, kept);
    while (beginnings < BEGINNINGS &&
           pop_likeliest(explanation, others, &kept, least, &picked[beginnings]))
        beginnings++;
    for (int i = 0; i < beginnings && candidates; i++) {
        double most = picked[i].value;
        size_t count = 0;

        for (int k = i + 1; k < beginnings && k < i + DIAGNOSE_RIVAL_PARTS; k++)
            most += fmax(picked[k].value, 0);
        if (most < needed)
            break;
        /* combinations with earlier beginnings were tried already */
        for (int k = i + 1; k < beginnings; k++)
            candidates[count++] = picked[k];
        for (size_t k = 0; k < kept; k++)
            candidates[count++] = others[k];
        for (size_t k = count; k-- > 0;)
            if (!part_is_large(part) && part_is_large(&candidates[k].part))
                candidates[k] = candidates[--count];
        if (!explanation_add(explanation, &picked[i].part))
            break;
        complete(explanation, candidates, &count, DIAGNOSE_RIVAL_PARTS - 1,
                 needed - picked[i].value);
        add_rival(rivals, explanation, base);
        while (explanation->count > base)
            explanation_remove(explanation, explanation->count - 1);
    }
    free(others);
    free(candidates);
}

static bool is_same_rival(const struct rival *a, const struct rival *b)
{
    int same = 0;

    for (int i = 0; i < a->count; i++)
        same += is_among(b->parts, (size_t)b->count, &a->parts[i]);
    return a->count == b->count && same == a->count;
}

static int by_score(const void *left, const void *right)
{
    const struct rival *a = left, *b = right;

    return (a->score < b->score) - (a->score > b->score);
}

/* Sorts the rivals, the best first, and drops duplicates. */
static void sort_rivals(struct rivals *rivals)
{
    int kept = 0;

    qsort(rivals->items, (size_t)rivals->count, sizeof rivals->items[0], by_score);
    for (int i = 0; i < rivals->count; i++) {
        int k = 0;

        while (k < kept && !is_same_rival(&rivals->items[i], &rivals->items[k]))
            k++;
        if (k == kept)
            rivals->items[kept++] = rivals->items[i];
    }
    rivals->count = kept;
}

struct suspicion *diagnosis_find(const struct diagnosis *diagnosis, const struct part *part)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (part_is_same(&diagnosis->items[i].part, part))
            return &diagnosis->items[i];
    return NULL;
}

static void add_item(struct search *search, const struct suspicion *item)
{
    struct diagnosis *diagnosis = search->diagnosis;

    if (GROW(diagnosis->items, diagnosis->count))
        diagnosis->items[diagnosis->count++] = *item;
    else
        search->is_out_of_memory = true;
}

/* Whether the rival is a cable that the path may be on: then the path is slow as well. */
static bool is_carried(const struct part *part, const struct rival *other)
{
    return part->type == DIAGNOSE_PATH && other->count == 1 &&
           other->parts[0].type == DIAGNOSE_UPLINK && other->parts[0].duty > 0;
}

/* Adds the suspicion of a part, with its rivals. */
static void add_suspicion(struct search *search, const struct part *part,
                          const struct rivals *rivals, double score)
{
    struct suspicion item = {.part = *part};
    double sum = score;

    for (int i = 0; i < rivals->count; i++)
        sum = model_add(sum, rivals->items[i].score);
    item.probability = exp(score - sum);
    for (int i = 0; i < rivals->count; i++) {
        struct rival rival = rivals->items[i];

        rival.probability = exp(rival.score - sum);
        if (is_carried(part, &rival))
            item.probability += rival.probability;
        else if (item.rival_count < DIAGNOSE_RIVALS && rival.probability > 1e-9)
            item.rivals[item.rival_count++] = rival;
    }
    add_item(search, &item);
}

/* Adds a suspicion for each part of a rival that is not in the explanation, with the sum of the
 * probabilities of these rivals. */
static void add_others(struct search *search)
{
    struct diagnosis *diagnosis = search->diagnosis;
    size_t own = diagnosis->count;

    for (size_t i = 0; i < own; i++) {
        struct suspicion of = diagnosis->items[i];

        for (int r = 0; r < of.rival_count; r++)
            for (int k = 0; k < of.rivals[r].count; k++) {
                struct suspicion item = {.part = of.rivals[r].parts[k],
                                         .probability = of.rivals[r].probability,
                                         .rivals = {{{of.part}, 1, 0, of.probability}},
                                         .rival_count = 1};
                struct suspicion *known = diagnosis_find(diagnosis, &item.part);

                if (known && known >= diagnosis->items + own)
                    known->probability += item.probability;
                else if (!known)
                    add_item(search, &item);
            }
    }
}

static int by_probability(const void *left, const void *right)
{
    const struct suspicion *a = left, *b = right;

    return (a->probability < b->probability) - (a->probability > b->probability);
}

/* Finds the candidates of all samples and puts in the likely ones. Sorts the others: first those
 * that many nodes share. */
static void put_likely(struct search *search)
{
    long found;

    free(search->candidates);
    found = part_candidates(&search->observations, NULL, 0, &search->candidates);
    search->is_out_of_memory |= found < 0;
    search->candidate_count = search->large_count = 0;
    for (long i = 0; i < found; i++)
        if (is_allowed(search, &search->candidates[i].part))
            search->candidates[search->candidate_count++] = search->candidates[i];
    complete(&search->explanation, search->candidates, &search->candidate_count, SIZE_MAX,
             -INFINITY);
    for (size_t i = 0; i < search->candidate_count; i++) {
        struct candidate one = search->candidates[i];

        if (!part_is_large(&one.part))
            continue;
        search->candidates[i] = search->candidates[search->large_count];
        search->candidates[search->large_count++] = one;
    }
}

/* Removes the part at index, compares it with its rivals, and puts the best explanation in. Adds
 * the suspicion of the part, in its likeliest state given the other parts. Returns whether a rival
 * took its place. */
static bool revise(struct search *search, size_t index)
{
    struct explanation *explanation = &search->explanation;
    struct part part = explanation->parts[index];
    struct rivals rivals;
    double score;

    explanation_remove(explanation, index);
    explanation_weigh(explanation, &part, MODEL_DEPTHS, -INFINITY);
    explanation_add(explanation, &part);
    score = explanation_score(explanation);
    explanation_remove(explanation, explanation->count - 1);
    find_rivals(search, &part, score, &rivals);
    sort_rivals(&rivals);
    add_suspicion(search, &part, &rivals, score);
    if (rivals.items[0].score <= score + 1e-3) {
        explanation_add(explanation, &part);
        return false;
    }
    for (int i = 0; i < rivals.items[0].count; i++)
        explanation_add(explanation, &rivals.items[0].parts[i]);
    return true;
}

/* Compares each part with its rivals, until no rival is better, and adds the suspicions. */
static void revise_all(struct search *search)
{
    struct explanation *explanation = &search->explanation;
    bool is_changed = true;

    for (int i = 0; i < REVISIONS && is_changed; i++) {
        is_changed = false;
        search->diagnosis->count = 0;
        for (size_t k = explanation->count; k-- > 0;) {
            is_changed |= revise(search, k);
            k = k < explanation->count ? k : explanation->count;
        }
    }
}

/* Adds suspicions of parts that are nearly likely enough to be put in. */
static void add_likely(struct search *search)
{
    struct candidate one;

    heap_make(search->candidates, search->candidate_count);
    while (pop_likeliest(&search->explanation, search->candidates, &search->candidate_count,
                         log(MODEL_ASKED), &one)) {
        struct suspicion item = {.part = one.part, .rival_count = 1};

        item.probability = 1 / (1 + exp(-one.value));
        item.rivals[0].probability = 1 - item.probability;
        if (!diagnosis_find(search->diagnosis, &item.part))
            add_item(search, &item);
    }
}

double suspicion_probability(const struct suspicion *item)
{
    const struct part *own = &item->part;
    double probability = item->probability;

    for (int i = 0; i < item->rival_count; i++) {
        const struct part *other = &item->rivals[i].parts[0];

        if (item->rivals[i].count == 1 && part_is_of_node(own) && part_is_of_node(other) &&
            own->index == other->index)
            probability += item->rivals[i].probability;
    }
    return fmin(probability, 1);
}

bool suspicion_is_sure(const struct suspicion *item)
{
    return suspicion_probability(item) >= MODEL_SURE;
}

/* Counts the samples that pass the part, all and low ones. Returns whether one of them is below
 * fault_share and passes none of the parts in sure. */
static bool count_samples(struct search *search, const struct part *const *sure, size_t sure_count,
                          struct suspicion *item)
{
    const struct observations *observations = &search->observations;
    const struct diagnose_network *network = observations->network;
    unsigned *pairs = search->explanation.scratch;
    unsigned count = part_pairs(observations, &item->part, pairs);
    double least = log(network->fault_share);
    bool has_own = false;

    for (unsigned i = 0; i < count; i++) {
        const struct pair *pair = &observations->pairs[pairs[i]];

        for (unsigned k = pair->begin; k < pair->end; k++) {
            const struct observation *sample = &observations->items[k];
            bool is_own = model_bin_y(sample->bin) < least;

            if (!part_passes(network, &item->part, pair, sample))
                continue;
            item->all++;
            item->low += sample->is_low;
            for (size_t m = 0; m < sure_count && is_own && !has_own; m++)
                is_own = !part_passes(network, sure[m], pair, sample);
            has_own = has_own || is_own;
        }
    }
    return has_own;
}

/* Counts the samples of each suspicion, and sorts the suspicions. Clears a part that is low only
 * where samples pass a part that is surely at fault: the depth of that one may vary more than in
 * the model. Clears a part that leaves enough of the rate. */
static void finish(struct search *search)
{
    const struct diagnose_network *network = search->observations.network;
    struct diagnosis *diagnosis = search->diagnosis;
    const struct part **sure = malloc((diagnosis->count + 1) * sizeof *sure);
    size_t sure_count = 0;

    for (size_t i = 0; i < diagnosis->count && sure; i++)
        if (suspicion_is_sure(&diagnosis->items[i]))
            sure[sure_count++] = &diagnosis->items[i].part;
    for (size_t i = 0; i < diagnosis->count && sure; i++) {
        struct suspicion *item = &diagnosis->items[i];
        double most = item->part.duty > 0 ? network->fault_share_at_times : network->fault_share;

        if ((!count_samples(search, sure, sure_count, item) && !suspicion_is_sure(item)) ||
            exp(model_depth(item->part.depth)) >= most)
            item->probability = 0;
    }
    diagnosis->all = diagnosis->count;
    if (diagnosis->all > 0)
        qsort(diagnosis->items, diagnosis->all, sizeof *diagnosis->items, by_probability);
    while (diagnosis->count > 0 &&
           diagnosis->items[diagnosis->count - 1].probability <= MODEL_ASKED)
        diagnosis->count--;
    search->is_out_of_memory |= !sure;
    free(sure);
}

/* Returns the bin of the sample's y over the depth of the leaf or fabric that always slows it, or
 * -1 if it passes another part. */
static int bin_beyond(const struct explained_pair *explained, const struct observation *sample)
{
    const struct part *deepest = NULL;

    for (int i = 0; i < explained->part_count; i++) {
        const struct part *part = explained->parts[i];

        if (!part_passes(explained->observations->network, part, explained->pair, sample))
            continue;
        if (part->duty > 0 || (part->type != DIAGNOSE_LEAF && part->type != DIAGNOSE_FABRIC))
            return -1;
        if (!deepest || part->depth > deepest->depth)
            deepest = part;
    }
    return deepest ? model_bin(model_bin_y(sample->bin) - model_depth(deepest->depth))
                   : sample->bin;
}

/* Counts the samples of a run that are healthy or always slowed: all, and by bin the low ones whose
 * ends were scheduled. Slowed samples are low if they are beyond the scatter about their depth. */
static void count_dips(const struct explained_pair *explained, const struct run *run,
                       unsigned counts[MODEL_BINS], double *all)
{
    for (unsigned k = run->begin; k < run->end; k++) {
        const struct observation *sample = &explained->observations->items[k];
        int bin = bin_beyond(explained, sample);
        bool is_low = sample->is_low;

        if (bin < 0)
            continue;
        if (bin != sample->bin)
            is_low = model_bin_y(bin) < -3 * MODEL_FAULTY_SCALE;
        (*all)++;
        counts[bin] += is_low && !sample->is_seen;
    }
}

/* Fits the noise to what the explanation leaves: hiccups, and samples lower than the parts at fault
 * explain. */
static void find_noise(const struct explanation *explanation, struct model_noise *noise)
{
    const struct observations *observations = explanation->observations;
    unsigned counts[MODEL_BINS] = {0};
    double all = 0, hiccups = 0, busy = model_rates[explanation->rate];

    for (unsigned i = 0; i < observations->pair_count; i++) {
        struct explained_pair explained = explanation_pair(explanation, i);
        const struct run *runs = &observations->runs[explained.pair->first_run];

        for (unsigned k = 0; k < explained.pair->run_count; k++)
            if (runs[k].hiccup > 0 && run_is_hiccup(&explained, &runs[k], busy))
                hiccups++;
            else
                count_dips(&explained, &runs[k], counts, &all);
    }
    model_fit_noise(counts, all, hiccups / fmax(observations->run_count, 1), noise);
}

/* Starts an explanation without parts, with that noise. Returns 0, or -1 if memory is out. */
static int begin(struct search *search, const struct model_noise *noise)
{
    explanation_clear(&search->explanation);
    observations_weigh(&search->observations, noise);
    return explanation_make(&search->observations, &search->explanation);
}

int diagnose(const struct diagnose_network *network, const struct diagnose_sample *samples,
             size_t count, const struct diagnosis *before, struct diagnosis *diagnosis)
{
    struct search search = {.diagnosis = diagnosis};
    struct model_noise noise;
    unsigned none[MODEL_BINS] = {0};
    int status = observations_make(network, samples, count, &search.observations);

    *diagnosis = (struct diagnosis){0};
    model_fit_noise(none, 0, 0, &noise);
    if (status == 0 && (find_allowed(&search, before) != 0 || begin(&search, &noise) != 0))
        status = -1;
    /* at first everything that is low may be noise */
    for (int i = 0; i < ROUNDS && status == 0; i++) {
        double dips = noise.dips;

        find_noise(&search.explanation, &noise);
        if (i > 0 && noise.dips > dips_ratio_most * dips)
            break;
        status = begin(&search, &noise);
        if (status == 0)
            put_likely(&search);
    }
    if (status == 0) {
        revise_all(&search);
        add_others(&search);
        add_likely(&search);
        finish(&search);
    }
    explanation_clear(&search.explanation);
    observations_clear(&search.observations);
    free(search.candidates);
    free(search.is_allowed);
    return search.is_out_of_memory ? -1 : status;
}

void diagnosis_clear(struct diagnosis *diagnosis)
{
    free(diagnosis->items);
    free(diagnosis->screened);
    free(diagnosis->measured);
    *diagnosis = (struct diagnosis){0};
}
