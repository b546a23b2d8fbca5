/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/diagnose.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "validate/diagnose/explanation.h"

/* Explanations without a part begin with one of so many others; what is that much less likely than
 * the best does not matter. */
enum { BEGINNINGS = 10, REVISIONS = 3 };
/* What belongs to a part at fault is at fault itself if it is so many steps deeper. */
enum { NEAR_STEPS = 2 };
static const double negligible = 16;
/* A part has no rival that reaches less than that share of what it gains, were it true of several
 * parts that each gain what they gain alone. */
static const double hopeful = 0.7;
/* When less than that share of the dips is left unexplained, another search may see more. */
enum { ROUNDS = 3 };
static const double clearer = 0.6;

struct weighed {
    struct part part;
    double value; /* log odds, or a bound of them */
    long stamp;   /* parts that had been put in when it was weighed; -1: a bound */
};

struct search {
    struct observations observations;
    struct explanation explanation;
    struct diagnosis *diagnosis;
    unsigned *low_pairs;
    size_t low_size;
    struct weighed *left; /* parts that were not put in */
    size_t left_count;
};

static void sift_down(struct weighed *heap, size_t count, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        struct weighed held = heap[at];

        if (child + 1 < count && heap[child + 1].value > heap[child].value)
            child++;
        if (child >= count || heap[child].value <= held.value)
            return;
        heap[at] = heap[child];
        heap[child] = held;
        at = child;
    }
}

static bool is_end(const struct part *part, int node)
{
    return part->place == node || (part->type == DIAGNOSE_PATH && part->peer == node);
}

/* Whether samples of the one may pass the other. */
static bool do_meet(const struct observations *observations, const struct part *a,
                    const struct part *b)
{
    if (part_is_large(a) || part_is_large(b) || is_end(a, b->place))
        return true;
    if (a->type == DIAGNOSE_PATH || b->type == DIAGNOSE_PATH)
        return (b->peer >= 0 && is_end(a, b->peer)) || (a->peer >= 0 && is_end(b, a->peer));
    for (unsigned i = observations->node_begin[a->place];
         i < observations->node_begin[a->place + 1]; i++) {
        const struct pair *pair = &observations->pairs[observations->node_pairs[i]];

        if (pair->low == b->place || pair->high == b->place)
            return true;
    }
    return false;
}

static bool is_met(const struct explanation *explanation, const struct part *part, long since)
{
    for (size_t i = (size_t)since; i < explanation->count; i++)
        if (do_meet(explanation->observations, &explanation->parts[i], part))
            return true;
    return false;
}

static bool has(const struct explanation *explanation, const struct part *part)
{
    for (size_t i = 0; i < explanation->count; i++)
        if (part_is_same(&explanation->parts[i], part))
            return true;
    return false;
}

/* Whether the part is a rail of the other one, or its uplinks to one leaf. */
static bool is_within(const struct part *part, const struct part *other)
{
    bool is_place = part->place == other->place || (other->peer < 0 && part->peer == other->place);

    return part->type == other->type && is_place && !part_is_same(part, other) &&
           (other->peer < 0 || other->peer == part->peer) &&
           (other->rail < 0 || other->rail == part->rail);
}

/* ... and not much deeper than that. */
static bool is_piece(const struct explanation *explanation, const struct part *part)
{
    for (size_t i = 0; i < explanation->count; i++)
        if (is_within(part, &explanation->parts[i]) &&
            abs(part->depth - explanation->parts[i].depth) <= NEAR_STEPS)
            return true;
    return false;
}

/* Puts in parts of the heap, the best first, while they make the explanation likelier, at most so
 * many, and only as long as it may gain that. without: one that may not be, or NULL. Returns 0, or
 * -1 when memory is out. */
static int complete(struct search *search, struct weighed *heap, size_t *count,
                    const struct part *without, size_t most, double gain)
{
    struct explanation *explanation = &search->explanation;
    double begin = explanation_score(explanation);

    for (size_t i = *count; i-- > 0;)
        sift_down(heap, *count, i);
    while (*count > 0 && heap[0].value > 0 && most > 0) {
        struct weighed *best = &heap[0];
        bool is_out =
            has(explanation, &best->part) || (without && part_is_same(without, &best->part));

        if (explanation_score(explanation) - begin + (double)most * best->value < gain)
            break;
        if (is_out) {
            heap[0] = heap[--*count];
        } else if (best->stamp == (long)explanation->count ||
                   (best->stamp >= 0 && !is_met(explanation, &best->part, best->stamp))) {
            if (without || !is_piece(explanation, &best->part)) {
                if (explanation_put(explanation, &best->part) != 0)
                    return -1;
                most--;
            }
            heap[0] = heap[--*count];
        } else {
            best->value = explanation_weigh(explanation, &best->part);
            if (isnan(best->value))
                return -1;
            best->stamp = (long)explanation->count;
        }
        if (*count > 0)
            sift_down(heap, *count, 0);
    }
    return 0;
}

static struct weighed *heap_of(const struct candidate *candidates, size_t count)
{
    struct weighed *heap = malloc((count + 1) * sizeof *heap);

    for (size_t i = 0; heap && i < count; i++)
        heap[i] = (struct weighed){candidates[i].part, candidates[i].bound, -1};
    return heap;
}

/* Numbers of the pairs in which a low sample passes the part, in search->low_pairs. */
static long low_pairs_of(struct search *search, const struct part *part)
{
    const struct observations *observations = &search->observations;
    long count = part_pairs(observations, part, &search->low_pairs, &search->low_size), low = 0;

    for (long i = 0; i < count; i++)
        if (part_is_low(observations, part, &observations->pairs[search->low_pairs[i]]))
            search->low_pairs[low++] = search->low_pairs[i];
    return count < 0 ? -1 : low;
}

/* Explanations of the same samples. */
struct rivals {
    struct {
        double score;
        struct part parts[DIAGNOSE_RIVAL_PARTS];
        int count;
    } items[BEGINNINGS + 1];
    int count;
};

static void note_rival(struct rivals *rivals, const struct explanation *explanation, size_t base)
{
    int count = 0;

    rivals->items[rivals->count].score = explanation_score(explanation);
    for (size_t i = base; i < explanation->count && count < DIAGNOSE_RIVAL_PARTS; i++)
        rivals->items[rivals->count].parts[count++] = explanation->parts[i];
    rivals->items[rivals->count++].count = count;
}

/* Takes from the heap, which is of bounds, up to so many that explain at least so much by
 * themselves, the best first. Returns how many, or -1 when memory is out. */
static int pick_beginnings(struct search *search, struct weighed *heap, size_t *count, double least,
                           struct weighed *picked)
{
    int found = 0;

    for (size_t i = *count; i-- > 0;)
        sift_down(heap, *count, i);
    while (*count > 0 && found < BEGINNINGS && heap[0].value > least) {
        struct weighed *best = &heap[0];

        if (best->stamp >= 0) {
            picked[found++] = *best;
            *best = heap[--*count];
        } else {
            best->value = explanation_weigh(&search->explanation, &best->part);
            if (isnan(best->value))
                return -1;
            best->stamp = (long)search->explanation.count;
            if (best->value < least)
                *best = heap[--*count];
        }
        if (*count > 0)
            sift_down(heap, *count, 0);
    }
    return found;
}

/* With the part taken out, with which the score was that: what explains its low samples else. What
 * many nodes share explains them by itself or begins: two of these do not look like one node. */
static int find_rivals(struct search *search, const struct part *part, double score,
                       struct rivals *rivals)
{
    struct explanation *explanation = &search->explanation;
    size_t base = explanation->count, kept = 0;
    long low = low_pairs_of(search, part), found;
    struct candidate *candidates = NULL;
    struct weighed *others = NULL, *heap = NULL, picked[BEGINNINGS];
    double needed;
    int status = -1, beginnings;

    rivals->count = 0;
    note_rival(rivals, explanation, base);
    needed = hopeful * (score - rivals->items[0].score - negligible);
    found = low < 0 ? -1
                    : part_candidates(&search->observations, search->low_pairs, (size_t)low,
                                      &candidates);
    if (found < 0)
        return -1;
    others = heap_of(candidates, (size_t)found);
    heap = malloc(((size_t)found + BEGINNINGS) * sizeof *heap);
    if (!others || !heap)
        goto done;
    for (long i = 0; i < found; i++)
        if (!part_is_same(&others[i].part, part) && !is_within(&others[i].part, part) &&
            !has(explanation, &others[i].part))
            others[kept++] = others[i];
    /* each of the parts that come after one explains less */
    beginnings = pick_beginnings(search, others, &kept,
                                 fmax(needed / DIAGNOSE_RIVAL_PARTS, -negligible), picked);
    if (beginnings < 0)
        goto done;
    for (int i = 0; i < beginnings; i++) {
        double most = picked[i].value;
        size_t count = 0;

        for (int k = i + 1; k < beginnings && k < i + DIAGNOSE_RIVAL_PARTS; k++)
            most += fmax(picked[k].value, 0);
        if (most < needed)
            break;
        /* those that began before have had what they explain together */
        for (int k = i + 1; k < beginnings; k++)
            heap[count++] = picked[k];
        for (size_t k = 0; k < kept; k++)
            heap[count++] = others[k];
        for (size_t k = count; k-- > 0;)
            if (!part_is_large(part) && part_is_large(&heap[k].part))
                heap[k] = heap[--count];
        if (explanation_put(explanation, &picked[i].part) != 0 ||
            complete(search, heap, &count, part, DIAGNOSE_RIVAL_PARTS - 1,
                     needed - picked[i].value) != 0)
            goto done;
        note_rival(rivals, explanation, base);
        while (explanation->count > base)
            if (explanation_take(explanation, explanation->count - 1) != 0)
                goto done;
    }
    status = 0;
done:
    free(candidates);
    free(others);
    free(heap);
    return status;
}

/* Whether two explanations are the same. */
static bool is_same_rival(const struct rivals *rivals, int a, int b)
{
    if (rivals->items[a].count != rivals->items[b].count)
        return false;
    for (int i = 0; i < rivals->items[a].count; i++) {
        bool is_there = false;

        for (int k = 0; k < rivals->items[b].count; k++)
            is_there =
                is_there || part_is_same(&rivals->items[a].parts[i], &rivals->items[b].parts[k]);
        if (!is_there)
            return false;
    }
    return true;
}

static int by_score(const void *left, const void *right)
{
    const double *a = left, *b = right; /* the score is their first member */

    return (*a < *b) - (*a > *b);
}

/* The best first, each once. */
static void sort_rivals(struct rivals *rivals)
{
    int kept = 0;

    qsort(rivals->items, (size_t)rivals->count, sizeof rivals->items[0], by_score);
    for (int i = 0; i < rivals->count; i++) {
        bool is_new = true;

        for (int k = 0; k < kept && is_new; k++)
            is_new = !is_same_rival(rivals, i, k);
        if (is_new)
            rivals->items[kept++] = rivals->items[i];
    }
    rivals->count = kept;
}

/* Takes out the part at that place, holds the rivals against it, and puts in the best explanation.
 * Returns 1 when that is another, 0, or -1 when memory is out. */
static int revise(struct search *search, size_t place, struct rivals *rivals, double *score)
{
    struct explanation *explanation = &search->explanation;
    struct part part = explanation->parts[place];

    if (explanation_take(explanation, place) != 0)
        return -1;
    /* its state given the others as they are now */
    if (isnan(explanation_weigh(explanation, &part)) || explanation_put(explanation, &part) != 0)
        return -1;
    *score = explanation_score(explanation);
    if (explanation_take(explanation, explanation->count - 1) != 0 ||
        find_rivals(search, &part, *score, rivals) != 0)
        return -1;
    sort_rivals(rivals);
    if (rivals->items[0].score <= *score + 1e-3)
        return explanation_put(explanation, &part);
    for (int i = 0; i < rivals->items[0].count; i++)
        if (explanation_put(explanation, &rivals->items[0].parts[i]) != 0)
            return -1;
    return 1;
}

static int add_item(struct diagnosis *diagnosis, const struct suspicion *item)
{
    struct suspicion *grown =
        realloc(diagnosis->items, (diagnosis->count + 1) * sizeof *diagnosis->items);

    if (!grown)
        return -1;
    diagnosis->items = grown;
    diagnosis->items[diagnosis->count++] = *item;
    return 0;
}

static int by_y(const void *left, const void *right)
{
    unsigned short a = *(const unsigned short *)left, b = *(const unsigned short *)right;

    return (a > b) - (a < b);
}

/* Counts the samples that pass it. */
static int measure_item(struct search *search, struct suspicion *item)
{
    const struct observations *observations = &search->observations;
    long count = part_pairs(observations, &item->part, &search->low_pairs, &search->low_size);
    unsigned short *bins = malloc((observations->count + 1) * sizeof *bins);

    if (count < 0 || !bins) {
        free(bins);
        return -1;
    }
    item->low = item->all = item->pairs = 0;
    for (long i = 0; i < count; i++) {
        const struct pair *pair = &observations->pairs[search->low_pairs[i]];
        unsigned before = item->all;

        for (unsigned k = pair->begin; k < pair->end; k++)
            if (part_passes(observations->network, &item->part, pair, &observations->items[k])) {
                item->all++;
                if (observations->items[k].is_low)
                    bins[item->low++] = observations->items[k].bin;
            }
        item->pairs += item->all > before;
    }
    qsort(bins, item->low, sizeof *bins, by_y);
    item->level = item->low ? exp(model_bin_y(bins[item->low / 2])) : 1;
    free(bins);
    return 0;
}

/* Whether the other explanation is a cable that the path is on: then the path is slow as well. */
static bool is_carried(const struct part *part, const struct part *others, int count)
{
    return part->type == DIAGNOSE_PATH && count == 1 && others[0].type == DIAGNOSE_UPLINK &&
           others[0].duty > 0;
}

/* What is said of a part that is in the explanation, and of its rivals. */
static int tell(struct search *search, const struct part *part, const struct rivals *rivals,
                double score)
{
    struct suspicion item = {.part = *part};
    double sum = score;

    for (int i = 0; i < rivals->count; i++)
        sum = model_add(sum, rivals->items[i].score);
    item.probability = exp(score - sum);
    for (int i = 0; i < rivals->count; i++) {
        double probability = exp(rivals->items[i].score - sum);

        if (is_carried(part, rivals->items[i].parts, rivals->items[i].count))
            item.probability += probability;
        else if (item.rival_count < DIAGNOSE_RIVALS && probability > 1e-9) {
            struct rival *rival = &item.rivals[item.rival_count++];

            rival->count = rivals->items[i].count;
            rival->probability = probability;
            memcpy(rival->parts, rivals->items[i].parts, sizeof rival->parts);
        }
    }
    if (measure_item(search, &item) != 0)
        return -1;
    return add_item(search->diagnosis, &item);
}

/* Parts that are in no rival's or own explanation likely enough to be left out. */
static int tell_others(struct search *search)
{
    struct diagnosis *diagnosis = search->diagnosis;
    size_t own = diagnosis->count;

    for (size_t i = 0; i < own; i++)
        for (int r = 0; r < diagnosis->items[i].rival_count; r++)
            for (int k = 0; k < diagnosis->items[i].rivals[r].count; k++) {
                struct suspicion item = {.part = diagnosis->items[i].rivals[r].parts[k],
                                         .probability = diagnosis->items[i].rivals[r].probability};
                struct rival *rival = &item.rivals[item.rival_count++];
                bool is_known = false;

                rival->parts[0] = diagnosis->items[i].part;
                rival->count = 1;
                rival->probability = diagnosis->items[i].probability;
                for (size_t n = 0; n < diagnosis->count; n++)
                    if (part_is_same(&diagnosis->items[n].part, &item.part)) {
                        is_known = true;
                        if (n >= own)
                            diagnosis->items[n].probability += item.probability;
                    }
                if (is_known)
                    continue;
                if (measure_item(search, &item) != 0 || add_item(diagnosis, &item) != 0)
                    return -1;
            }
    return 0;
}

static int by_probability(const void *left, const void *right)
{
    const struct suspicion *a = left, *b = right;

    return (a->probability < b->probability) - (a->probability > b->probability);
}

/* The candidates of all samples, the likely ones put in. */
static int grow(struct search *search)
{
    struct candidate *candidates = NULL;
    long found = part_candidates(&search->observations, NULL, 0, &candidates);

    search->left_count = (size_t)(found < 0 ? 0 : found);
    search->left = found < 0 ? NULL : heap_of(candidates, search->left_count);
    free(candidates);
    return search->left
               ? complete(search, search->left, &search->left_count, NULL, SIZE_MAX, -INFINITY)
               : -1;
}

/* Each part against its rivals, until none is better; then what is said of them. */
static int revise_all(struct search *search)
{
    struct explanation *explanation = &search->explanation;
    bool is_changed = true;

    for (int i = 0; i < REVISIONS && is_changed; i++) {
        is_changed = false;
        diagnosis_clear(search->diagnosis);
        for (size_t k = explanation->count; k-- > 0;) {
            struct rivals rivals;
            struct part part = explanation->parts[k];
            double score;
            int changed = revise(search, k, &rivals, &score);

            if (changed < 0 || tell(search, &part, &rivals, score) != 0)
                return -1;
            is_changed = is_changed || changed;
            k = k < explanation->count ? k : explanation->count;
        }
    }
    return 0;
}

static bool is_told(const struct diagnosis *diagnosis, const struct part *part)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (part_is_same(&diagnosis->items[i].part, part))
            return true;
    return false;
}

/* Parts that are nearly likely enough to be put in. */
static int tell_likely(struct search *search)
{
    struct explanation *explanation = &search->explanation;

    for (size_t i = 0; i < search->left_count; i++) {
        const struct weighed *one = &search->left[i];
        struct suspicion item = {.part = one->part, .rival_count = 1};

        if (one->value <= log(model_value(MODEL_ASKED)) || has(explanation, &one->part) ||
            is_told(search->diagnosis, &one->part))
            continue;
        item.probability = 1 / (1 + exp(-explanation_weigh(explanation, &item.part)));
        item.rivals[0].probability = 1 - item.probability;
        if (item.probability > model_value(MODEL_ASKED) &&
            (measure_item(search, &item) != 0 || add_item(search->diagnosis, &item) != 0))
            return -1;
    }
    return 0;
}

/* What is nobody's fault. */
struct noise {
    struct model_dips dips;
    double hiccup_share;
};

/* The samples of a run that no part passes, all and the low ones. */
static void count_dips(const struct explanation *explanation, unsigned pair, const struct run *run,
                       unsigned counts[MODEL_BINS], double *all)
{
    const struct observations *observations = explanation->observations;

    for (unsigned k = run->begin; k < run->end; k++) {
        const struct observation *sample = &observations->items[k];
        bool is_passed = false;

        for (size_t i = 0; i < explanation->count && !is_passed; i++)
            is_passed = part_passes(observations->network, &explanation->parts[i],
                                    &observations->pairs[pair], sample);
        *all += !is_passed;
        counts[sample->bin] += sample->is_low && !sample->is_seen && !is_passed;
    }
}

/* What is low though no part that is at fault passes it. */
static void find_noise(const struct explanation *explanation, struct noise *noise)
{
    const struct observations *observations = explanation->observations;
    unsigned counts[MODEL_BINS] = {0};
    double all = 0, hiccups = 0;

    for (unsigned i = 0; i < observations->pair_count; i++) {
        const struct pair *pair = &observations->pairs[i];

        for (unsigned k = 0; k < pair->run_count; k++) {
            const struct run *run = &observations->runs[pair->first_run + k];

            if (explanation_is_hiccup(explanation, i, run))
                hiccups++;
            else
                count_dips(explanation, i, run, counts, &all);
        }
    }
    noise->hiccup_share =
        fmin(fmax(hiccups / fmax(observations->run_count, 1), model_value(MODEL_HICCUPS_LEAST)),
             model_value(MODEL_HICCUPS_MOST));
    model_fit_dips(counts, all, model_value(MODEL_DIPS_MOST), &noise->dips);
}

static void search_clear(struct search *search)
{
    explanation_clear(&search->explanation);
    observations_clear(&search->observations);
    free(search->low_pairs);
    free(search->left);
    *search = (struct search){.diagnosis = search->diagnosis};
}

static int search_make(const struct diagnose_network *network,
                       const struct diagnose_sample *samples, size_t count,
                       const struct noise *noise, struct search *search)
{
    if (observations_make(network, &noise->dips, samples, count, &search->observations) != 0)
        return -1;
    return explanation_make(&search->observations, noise->hiccup_share, &search->explanation);
}

/* What the part leaves of the rate. Of uplinks the depth is not of a single stream; the low samples
 * of others may be low for another part's sake. */
static double share_left(const struct suspicion *item)
{
    return item->part.type == DIAGNOSE_UPLINK ? item->level : exp(model_depth(item->part.depth));
}

/* What no part at fault explains of the samples that shared uplinks. */
static int screen_others(const struct diagnose_network *network,
                         const struct diagnose_sample *samples, size_t count,
                         struct diagnosis *diagnosis)
{
    struct part *known = malloc((diagnosis->count + 1) * sizeof *known);
    size_t known_count = 0;
    int status = -1;

    for (size_t i = 0; i < diagnosis->count && known; i++)
        if (diagnosis->items[i].probability >= model_value(MODEL_SURE))
            known[known_count++] = diagnosis->items[i].part;
    if (known)
        status = screen_make(network, samples, count, known, known_count, &diagnosis->screen);
    free(known);
    return status;
}

int diagnose(const struct diagnose_network *network, const struct diagnose_sample *samples,
             size_t count, struct diagnosis *diagnosis)
{
    struct search search = {.diagnosis = diagnosis};
    struct noise noise = {.hiccup_share = model_value(MODEL_HICCUPS_LEAST)};
    unsigned none[MODEL_BINS] = {0};
    size_t kept = 0;
    int status;

    *diagnosis = (struct diagnosis){0};
    model_fit_dips(none, 0, 1, &noise.dips);
    status = search_make(network, samples, count, &noise, &search);
    /* at first all that is low may be nobody's */
    for (int i = 0; i < ROUNDS && status == 0; i++) {
        double share = noise.dips.share;

        find_noise(&search.explanation, &noise);
        if (i > 0 && noise.dips.share > clearer * share)
            break;
        search_clear(&search);
        status = search_make(network, samples, count, &noise, &search);
        if (status == 0)
            status = grow(&search);
    }
    if (status == 0)
        status = revise_all(&search);
    if (status == 0)
        status = tell_others(&search);
    if (status == 0)
        status = tell_likely(&search);
    diagnosis->busy = model_rate(search.explanation.rate);
    search_clear(&search);
    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct suspicion *item = &diagnosis->items[i];
        double most = item->part.duty > 0 ? network->fault_share_at_times : network->fault_share;

        if (item->probability > model_value(MODEL_ASKED) && share_left(item) < most)
            diagnosis->items[kept++] = *item;
    }
    diagnosis->count = kept;
    if (kept > 0)
        qsort(diagnosis->items, kept, sizeof *diagnosis->items, by_probability);
    return status == 0 ? screen_others(network, samples, count, diagnosis) : -1;
}

void diagnosis_clear(struct diagnosis *diagnosis)
{
    free(diagnosis->items);
    screen_clear(&diagnosis->screen);
    *diagnosis = (struct diagnosis){0};
}
