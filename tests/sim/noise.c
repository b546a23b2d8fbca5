/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/fabric.h"

enum { CERTIFICATIONS_MOST = 128, ROUNDS_MOST = 8192, PAIR_RUNS_MOST = 32768 };

struct recorded_round {
    enum noise_kind kind;
    size_t first, count; /* pair runs */
};

struct recorded_certification {
    char load[16];
    size_t first, count; /* rounds */
};

struct noise_recordings {
    struct recorded_certification certifications[CERTIFICATIONS_MOST];
    struct recorded_round rounds[ROUNDS_MOST];
    struct noise_pair_run pair_runs[PAIR_RUNS_MOST];
    size_t certification_count, round_count, pair_run_count;
};

const struct noise_load noise_loads[NOISE_LOADS] = {
    {"none", false, 0}, {"recorded", true, 0}, {"preempted", false, 0.9}};

static const char *const kinds[] = {"rails\n", "together\n"};

/* Returns whether the line has the figures of a pair run, and nothing else. */
static bool parse_pair_run(const char *line, struct noise_pair_run *pair_run)
{
    int count = 0, length = 0;

    for (; count < NOISE_FIGURES; count++, line += length) {
        struct noise_share *share = &pair_run->figures[count];

        if (sscanf(line, "%lf %lf %lf %lf %lf%n", &share->value, &share->low, &share->high,
                   &share->best, &share->stalled, &length) != 5)
            break;
        if (!(share->value > 0 && share->low > 0 && share->low <= share->high && share->best > 0 &&
              share->stalled >= 0))
            return false;
    }
    pair_run->figure_count = count;
    return count > 0 && *line == '\n';
}

/* Returns whether the line is known and there is room for it. */
static bool add_line(struct noise_recordings *recordings, const char *line)
{
    struct recorded_certification *certification =
        &recordings->certifications[recordings->certification_count];
    struct recorded_round *round = &recordings->rounds[recordings->round_count];

    if (sscanf(line, "certification %15s", certification->load) == 1) {
        certification->first = recordings->round_count;
        return ++recordings->certification_count < CERTIFICATIONS_MOST;
    }
    if (recordings->certification_count == 0)
        return false;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        if (strcmp(line, kinds[kind]) == 0) {
            *round = (struct recorded_round){(enum noise_kind)kind, recordings->pair_run_count, 0};
            certification[-1].count++;
            return ++recordings->round_count < ROUNDS_MOST;
        }
    if (certification[-1].count == 0)
        return false;
    round[-1].count++;
    return recordings->pair_run_count < PAIR_RUNS_MOST &&
           parse_pair_run(line, &recordings->pair_runs[recordings->pair_run_count++]);
}

struct noise_recordings *noise_read(const char *path)
{
    struct noise_recordings *recordings = sim_allocate(1, sizeof *recordings);
    FILE *file = fopen(path, "r");
    char line[NOISE_FIGURES * 48];

    if (!file) {
        fprintf(stderr, "sim: %s: %m\n", path);
        exit(3);
    }
    for (int number = 1; fgets(line, sizeof line, file); number++)
        if (line[0] != '#' && !add_line(recordings, line)) {
            fprintf(stderr,
                    "sim: %s:%d: expected a certification, a round, or five shares each of up to "
                    "%d bandwidths, within %d certifications, %d rounds and %d pair runs\n",
                    path, number, NOISE_FIGURES, CERTIFICATIONS_MOST, ROUNDS_MOST, PAIR_RUNS_MOST);
            exit(3);
        }
    fclose(file);
    if (recordings->pair_run_count == 0) {
        fprintf(stderr, "sim: %s: has no bandwidths\n", path);
        exit(3);
    }
    return recordings;
}

struct noise noise_beside(const struct noise *noise, const struct noise_load *load)
{
    struct noise beside = *noise;

    beside.is_busy = load->is_busy;
    beside.preempted = load->preempted;
    return beside;
}

struct noise_share noise_preempt(uint64_t *random)
{
    struct noise_share share = {1, 1, 1, 1, 0.02 * sim_uniform(random)};
    bool is_preempted = sim_uniform(random) < 0.6;

    if (sim_uniform(random) < (is_preempted ? 0.75 : 0.015))
        share.stalled = 0.05 + 0.55 * sim_uniform(random);
    if (!is_preempted || sim_uniform(random) >= 0.7)
        return share;
    share.value = 0.3 + 0.72 * sim_uniform(random);
    share.low = share.value * (0.5 + 0.5 * sim_uniform(random));
    share.high = share.best =
        fmax(share.value, share.value + (1 - share.value) * sim_uniform(random));
    return share;
}

size_t noise_certification(const struct noise *noise, uint64_t random)
{
    const struct noise_recordings *recordings = noise->recordings;
    size_t numbers[CERTIFICATIONS_MOST], count = 0;

    for (size_t i = 0; i < recordings->certification_count; i++)
        if ((strcmp(recordings->certifications[i].load, "none") != 0) == noise->is_busy)
            numbers[count++] = i;
    if (count > 0)
        return numbers[random % count];
    fprintf(stderr, "sim: no certification was recorded on %s machines\n",
            noise->is_busy ? "busy" : "quiet");
    exit(3);
}

/* Sets the round, from its own on, to one of its kind. Returns whether there is one. */
static bool find_kind(struct noise_round *round)
{
    const struct recorded_certification *certification =
        &round->recordings->certifications[round->certification];

    for (size_t tried = 0; tried < certification->count; tried++) {
        size_t number = (round->round + tried) % certification->count;
        const struct recorded_round *found =
            &round->recordings->rounds[certification->first + number];

        if (found->kind == round->kind && found->count > 0) {
            round->round = number;
            return true;
        }
    }
    return false;
}

struct noise_round noise_round(const struct noise_recordings *recordings, size_t certification,
                               enum noise_kind kind, uint64_t random)
{
    size_t count = recordings->certifications[certification].count;
    struct noise_round round = {.recordings = recordings,
                                .certification = certification,
                                .round = count > 0 ? (size_t)(random % count) : 0,
                                .kind = kind};

    if (!find_kind(&round)) {
        fprintf(stderr, "sim: recorded certification %zu has no round of kind %s",
                certification + 1, kinds[kind]);
        exit(3);
    }
    return round;
}

const struct noise_pair_run *noise_next(struct noise_round *round)
{
    const struct noise_recordings *recordings = round->recordings;
    const struct recorded_round *recorded =
        &recordings->rounds[recordings->certifications[round->certification].first + round->round];

    if (round->next == recorded->count) {
        round->round++;
        round->next = 0;
        find_kind(round);
        return noise_next(round);
    }
    return &recordings->pair_runs[recorded->first + round->next++];
}
