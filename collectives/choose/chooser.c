/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/chooser_parts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/predict.h"
#include "lib/base/compare.h"
#include "lib/constants/collectives_constants.h"

const size_t chooser_segments[CHOOSER_SEGMENTS] = {256 << 10, 64 << 10, 1 << 20};

struct chooser *chooser_create(const struct machine *machine, const struct layout *layout,
                               const struct plan_topology *topology)
{
    struct chooser *chooser = calloc(1, sizeof *chooser);

    if (chooser != NULL)
        *chooser = (struct chooser){.machine = machine, .layout = layout, .topology = topology};
    return chooser;
}

void chooser_destroy(struct chooser *chooser)
{
    if (chooser == NULL)
        return;
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++)
        for (int type = 0; type < ELEMENT_TYPES; type++)
            for (int i = 0; i < CACHED_INDICES; i++)
                free(chooser->cached[kind][type][i]);
    free(chooser);
}

void chooser_allow_mpi(struct chooser *chooser, bool is_allowed)
{
    chooser->is_mpi_allowed = is_allowed;
}

/* ------------------------------------------------------------------------------------- forcing */

static bool is_auto(const char *name)
{
    return strcmp(name, "auto") == 0;
}

/* Whether a kind has an algorithm of this name; kind COLLECTIVE_KINDS: any kind. */
static bool is_algorithm(enum collective_kind kind, const char *name)
{
    if (is_auto(name) || strcmp(name, MACHINE_MPI) == 0)
        return true;
    if (kind != COLLECTIVE_KINDS)
        return algorithm_find(kind, name) != NULL;
    for (const struct algorithm *algorithm = algorithms; algorithm->name != NULL; algorithm++)
        if (strcmp(algorithm->name, name) == 0)
            return true;
    return false;
}

static void force_kind(char *forced, const char *name)
{
    strcpy(forced, is_auto(name) ? "" : name);
}

static int force_word(char (*forced)[MACHINE_NAME], char *word, struct error *err)
{
    char *equals = strchr(word, '=');
    const char *name = equals != NULL ? equals + 1 : word;
    enum collective_kind kind = COLLECTIVE_KINDS;

    if (equals != NULL) {
        *equals = '\0';
        if (!collective_kind_parse(word, &kind))
            return error_set(err,
                             "found \"%.64s\", expected allreduce, reduce-scatter, all-gather, "
                             "broadcast, reduce or all-to-all",
                             word);
    }
    if (strlen(name) >= MACHINE_NAME || !is_algorithm(kind, name))
        return error_set(err, "found \"%.64s\", expected auto, mpi or an algorithm%s%s", name,
                         kind < COLLECTIVE_KINDS ? " of " : "",
                         kind < COLLECTIVE_KINDS ? collective_kind_name(kind) : "");
    if (kind < COLLECTIVE_KINDS)
        force_kind(forced[kind], name);
    else
        for (int each = 0; each < COLLECTIVE_KINDS; each++)
            force_kind(forced[each], name);
    return 0;
}

static int force_words(char (*forced)[MACHINE_NAME], const char *words, struct error *err)
{
    char *copy = strdup(words), *rest = NULL;
    int status = copy != NULL ? 0 : error_set(err, "out of memory");

    for (char *word = copy != NULL ? strtok_r(copy, ",", &rest) : NULL; word != NULL && status == 0;
         word = strtok_r(NULL, ",", &rest))
        status = force_word(forced, word, err);
    free(copy);
    return status;
}

int chooser_force(struct chooser *chooser, const char *words, struct error *err)
{
    char forced[COLLECTIVE_KINDS][MACHINE_NAME] = {{0}};

    if (force_words(forced, words, err) < 0)
        return -1;
    if (chooser != NULL)
        memcpy(chooser->forced, forced, sizeof forced);
    return 0;
}

/* --------------------------------------------------------------------------------------- sizes */

size_t chooser_bytes(const struct plan_shape *shape)
{
    size_t count = shape->count;

    if (collective_kind_has_blocks(shape->kind)) {
        count = 0;
        for (int rank = 0; rank < shape->ranks; rank++)
            count += shape->counts != NULL ? shape->counts[rank] : shape->count;
    }
    return count * shape->element_bytes;
}

struct plan_shape chooser_typical_shape(const struct chooser *chooser,
                                        const struct plan_shape *shape, size_t bytes)
{
    struct plan_shape typical = {
        .kind = shape->kind,
        .element_bytes = shape->element_bytes,
        .ranks = shape->ranks,
        .count = (bytes + shape->element_bytes - 1) / shape->element_bytes,
        .segment = shape->segment,
        .wire = shape->wire,
        .topology = chooser->topology,
    };

    if (collective_kind_has_blocks(shape->kind))
        typical.count = (typical.count + (size_t)shape->ranks - 1) / (size_t)shape->ranks;
    return typical;
}

/* ------------------------------------------------------------------------------------ choosing */

double chooser_predict(const struct chooser *chooser, const struct algorithm *algorithm,
                       const struct plan_shape *shape, enum element_type type)
{
    double time_us = -1;

    if (shape->ranks <= PREDICT_WALK_RANKS)
        time_us = predict_walk_us(chooser->machine, chooser->layout, algorithm, shape, type, NULL);
    if (time_us < 0)
        time_us = predict_formula_us(chooser->machine, chooser->layout, algorithm, shape, type);
    return time_us;
}

/* Measured choices come before predicted ones: a choice that was not measured although others were
 * was predicted to be slow at that time. */
static int compare_choices(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    double a_us = a->measured_us > 0 ? a->measured_us : a->predicted_us;
    double b_us = b->measured_us > 0 ? b->measured_us : b->predicted_us;

    return (b->measured_us > 0) - (a->measured_us > 0) ?: COMPARE(a_us, b_us);
}

static bool is_wanted(const struct chooser *chooser, enum collective_kind kind, const char *name)
{
    const char *forced = chooser->forced[kind];

    return *forced == '\0' || strcmp(forced, name) == 0;
}

/* The ratio of the time of this type to that of bf16, both coded without loss, since only bf16 is
 * benchmarked. bytes: the block of one rank. */
static double ratio_to_bf16(const struct chooser *chooser, enum element_type type, size_t bytes)
{
    enum link_class farthest = layout_farthest(chooser->layout);
    double bf16_us = machine_lossless_us(chooser->machine, farthest, CODEC_BF16, bytes);

    return machine_lossless_us(chooser->machine, farthest, wire_codec(type), bytes) / bf16_us;
}

/* The time by benchmarks, in us; 0: none near this size, or none with this wire format. */
static double tried_us(const struct chooser *chooser, const struct plan_shape *shape,
                       enum element_type type, const char *name, size_t segment_bytes, size_t bytes)
{
    double time_us;

    if (shape->wire != WIRE_AS_IS && shape->wire != WIRE_LOSSLESS)
        return 0;
    time_us = machine_benchmark_us(chooser->machine, shape->kind, shape->wire, name, segment_bytes,
                                   bytes);
    if (time_us > 0 && shape->wire == WIRE_LOSSLESS && type != ELEMENT_BF16)
        time_us *= ratio_to_bf16(chooser, type, bytes / (size_t)shape->ranks);
    return time_us;
}

unsigned chooser_list_typical(const struct chooser *chooser, const struct plan_shape *typical,
                              enum element_type type, struct choice choices[CHOICES])
{
    size_t bytes = chooser_bytes(typical);
    unsigned count = 0;
    double mpi_us;

    for (const struct algorithm *algorithm = algorithms; algorithm->name != NULL; algorithm++) {
        if (!algorithm_applies(algorithm, typical) ||
            !is_wanted(chooser, typical->kind, algorithm->name))
            continue;
        for (unsigned i = 0; i < CHOOSER_SEGMENTS && count < CHOICES - 1; i++) {
            struct plan_shape shape = *typical;
            struct choice *choice = &choices[count];

            choice->algorithm = algorithm;
            choice->segment_bytes =
                shape.segment != 0 ? shape.segment * shape.element_bytes : chooser_segments[i];
            /* segments that are as large as the call give the plan of the first; a forced algorithm
             * always uses the first */
            if (i > 0 && (*chooser->forced[typical->kind] != '\0' || typical->segment != 0 ||
                          algorithm->is_whole ||
                          (chooser_segments[i] >= bytes && chooser_segments[0] >= bytes)))
                continue;
            shape.segment = choice->segment_bytes / shape.element_bytes;
            choice->predicted_us = chooser_predict(chooser, algorithm, &shape, type);
            if (isnan(choice->predicted_us)) {
                choices[0] = (struct choice){algorithm, choice->segment_bytes, NAN, 0};
                return 1;
            }
            choice->measured_us =
                tried_us(chooser, typical, type, algorithm->name, choice->segment_bytes, bytes);
            count++;
        }
    }
    mpi_us = tried_us(chooser, typical, type, MACHINE_MPI, 0, bytes);
    if (chooser->is_mpi_allowed && mpi_us > 0 && is_wanted(chooser, typical->kind, MACHINE_MPI))
        choices[count++] = (struct choice){NULL, 0, -1, mpi_us};
    qsort(choices, count, sizeof *choices, compare_choices);
    return count;
}

unsigned chooser_list(struct chooser *chooser, const struct plan_shape *shape,
                      enum element_type type, struct choice choices[CHOICES])
{
    struct plan_shape typical = chooser_typical_shape(chooser, shape, chooser_bytes(shape));

    return chooser_list_typical(chooser, &typical, type, choices);
}

/* Whether each rank sets its own block sizes, so that no rank knows the total. */
static bool is_unknown_to_others(const struct plan_shape *shape)
{
    return shape->kind == COLLECTIVE_ALL_TO_ALL &&
           (shape->counts != NULL || shape->send_counts != NULL);
}

bool choice_is_shared(const struct choice *choice)
{
    return choice->algorithm != NULL && strcmp(choice->algorithm->name, "shared") == 0;
}

/* Returns the index of the choice to use; choices are sorted. Shared memory is used if it is nearly
 * the fastest: benchmarks are from one start of a program, and copies by the kernel may take twice
 * as long in another. */
static unsigned steadiest(const struct choice *choices, unsigned count, size_t bytes)
{
    for (unsigned i = 0; i < count && bytes >= CHOICE_STEADIER_FROM_BYTES; i++)
        if (choice_is_shared(&choices[i]) && choices[i].measured_us > 0 &&
            choices[i].measured_us <= CHOICE_STEADIER * choices[0].measured_us)
            return i;
    return 0;
}

/* For an unknown size shared memory is chosen if it applies: at 4 KiB the others take four times as
 * long, from 1 MiB on it takes at most 1.5 times as long as the best. */
static struct choice pick(struct chooser *chooser, const struct plan_shape *shape,
                          enum element_type type, size_t bytes)
{
    struct choice choices[CHOICES] = {{NULL}};
    struct plan_shape typical = chooser_typical_shape(chooser, shape, bytes);
    unsigned count = chooser_list_typical(chooser, &typical, type, choices);

    if (*chooser->forced[shape->kind] != '\0' && count == 0) {
        /* the forced algorithm does not apply here, or is MPI's own */
        if (strcmp(chooser->forced[shape->kind], MACHINE_MPI) == 0)
            return (struct choice){NULL, 0, -1, 0};
        choices[0].algorithm = algorithm_default(&typical);
        choices[0].segment_bytes = chooser_segments[0];
        choices[0].predicted_us = chooser_predict(chooser, choices[0].algorithm, &typical, type);
    }
    for (unsigned i = 0; i < count && is_unknown_to_others(shape); i++)
        if (choice_is_shared(&choices[i]))
            return choices[i];
    return choices[steadiest(choices, count, bytes)];
}

/* Runs in each call, and some calls take 0.1 us: no logarithm. */
unsigned chooser_size_number(const struct plan_shape *shape)
{
    static const double steps[CHOOSER_PER_OCTAVE] = {1, 1.189207115002721, 1.4142135623730951,
                                                     1.681792830507429}; /* 2^(i/4) */
    size_t bytes = chooser_bytes(shape);
    unsigned octave = bytes > 1 ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    unsigned number = octave * CHOOSER_PER_OCTAVE;
    double above = bytes > 1 ? (double)bytes / (double)((uint64_t)1 << octave) : 1;

    if (is_unknown_to_others(shape))
        return CHOOSER_UNKNOWN;
    for (unsigned i = 1; i < CHOOSER_PER_OCTAVE && above >= steps[i]; i++)
        number++;
    return number < CHOOSER_UNKNOWN ? number : CHOOSER_UNKNOWN - 1;
}

size_t chooser_size_middle(unsigned number)
{
    if (number == CHOOSER_UNKNOWN)
        return (size_t)1 << 20;
    return (size_t)(exp2((number + 0.5) / CHOOSER_PER_OCTAVE));
}

void chooser_make_apply(struct choice *choice, const struct plan_shape *shape)
{
    if (choice->algorithm != NULL && !algorithm_applies(choice->algorithm, shape))
        choice->algorithm = algorithm_default(shape);
}

struct choice chooser_pick_typical(struct chooser *chooser, const struct plan_shape *shape,
                                   enum element_type type)
{
    unsigned number = chooser_size_number(shape);
    struct cached_choice *cached =
        chooser_cached(&chooser->cached[shape->kind][type][shape->wire], shape, number);
    struct choice choice;

    if (cached != NULL && cached->is_known)
        return cached->choice;
    choice = pick(chooser, shape, type, chooser_size_middle(number));
    if (cached != NULL && !isnan(choice.predicted_us))
        *cached = (struct cached_choice){.is_known = true, .choice = choice};
    return choice;
}

struct choice chooser_pick(struct chooser *chooser, const struct plan_shape *shape,
                           enum element_type type)
{
    struct choice choice = chooser_pick_typical(chooser, shape, type);

    chooser_make_apply(&choice, shape);
    return choice;
}

/* ----------------------------------------------------------------------------------- explaining */

void chooser_explain(struct chooser *chooser, const struct plan_shape *shape,
                     enum element_type type, FILE *stream)
{
    struct choice choices[CHOICES];
    unsigned count = chooser_list(chooser, shape, type, choices);
    unsigned chosen = steadiest(choices, count, chooser_bytes(shape));

    for (unsigned i = 0; i < count; i++) {
        const struct choice *choice = &choices[i];

        fprintf(stream, "%-14s %10zu  %-20s %8zu", collective_kind_name(shape->kind),
                chooser_bytes(shape), choice->algorithm != NULL ? choice->algorithm->name : "mpi",
                choice->segment_bytes);
        if (choice->predicted_us >= 0)
            fprintf(stream, " %12.1f", choice->predicted_us);
        else
            fprintf(stream, " %12s", "-");
        if (choice->measured_us > 0)
            fprintf(stream, " %12.1f", choice->measured_us);
        else
            fprintf(stream, " %12s", "-");
        fprintf(stream, "%s\n", i == chosen ? "  chosen" : "");
    }
}
