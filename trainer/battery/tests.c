/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/battery/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/statistics.h"
#include "validate/battery/output.h"
#include "validate/battery/watch/watch.h"

/* A rank slower than this share of the median of all is said to be slow. */
#define SLOW 0.75

#define CHECKPOINT_PREFIX "muster-train-"

/* No battery takes so long. */
enum { OLD_S = 24 * 3600 };

static void say(const struct battery *battery, struct record *record, int rank, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

/* rank: whom it is about; -1: nobody. */
static void say(const struct battery *battery, struct record *record, int rank, const char *format,
                ...)
{
    char message[600], part[32];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record->message = message;
    if (rank >= 0) {
        snprintf(part, sizeof part, "rank %d", rank);
        record->part = part;
        record->node = battery->party.names[rank];
    }
    output_record(record);
}

static bool is_first_of_node(const struct battery *battery, int rank)
{
    for (int before = 0; before < rank; before++)
        if (strcmp(battery->party.names[before], battery->party.names[rank]) == 0)
            return false;
    return true;
}

static bool has_company(const struct battery *battery, int rank)
{
    int ranks = 0;

    for (int other = 0; other < battery->party.ranks; other++)
        ranks += strcmp(battery->party.names[other], battery->party.names[rank]) == 0;
    return ranks > 1;
}

static bool is_off(const struct trial_outcome *outcome)
{
    return outcome->rv != 0 || !(outcome->worst <= TRIAL_TOLERANCE);
}

/* What is wrong with a rank's outcome. */
static void say_off(const struct battery *battery, const char *test, int rank)
{
    const struct trial_outcome *outcome = &battery->outcomes[rank];
    struct record record = RECORD_INIT;

    record.test = test;
    record.metric = "loss";
    record.verdict = VERDICT_FAIL;
    if (outcome->rv != 0) {
        say(battery, &record, rank, "%s", outcome->text);
        return;
    }
    record.value = outcome->worst;
    record.unit = "nats";
    record.limit = TRIAL_TOLERANCE;
    record.limit_source = "reference";
    say(battery, &record, rank,
        "the loss %s %d is %.9f, %.3g off the reference: it computes wrongly",
        outcome->step == TRIAL_STEPS ? "after update" : "of step", outcome->step, outcome->found,
        outcome->worst);
}

/* A node's ranks were all as they should be; value: the worst of them. */
static void say_good(const struct battery *battery, const char *test, int first)
{
    struct record record = RECORD_INIT;

    record.test = test;
    record.metric = "loss";
    record.node = battery->party.names[first];
    record.value = 0;
    record.unit = "nats";
    record.limit = TRIAL_TOLERANCE;
    record.limit_source = "reference";
    record.verdict = VERDICT_PASS;
    for (int rank = 0; rank < battery->party.ranks; rank++)
        if (strcmp(battery->party.names[rank], record.node) == 0)
            record.value = fmax(record.value, battery->outcomes[rank].worst);
    say(battery, &record, -1, "%s", "");
}

/* Each node: fails of its ranks, or its pass. skips_single: a node of one rank has nothing to
 * show. */
static void judge_nodes(const struct battery *battery, const char *test, bool skips_single)
{
    for (int first = 0; first < battery->party.ranks; first++) {
        int bad = 0;

        if (!is_first_of_node(battery, first) || (skips_single && !has_company(battery, first)))
            continue;
        for (int rank = first; rank < battery->party.ranks; rank++) {
            if (strcmp(battery->party.names[rank], battery->party.names[first]) != 0 ||
                !is_off(&battery->outcomes[rank]))
                continue;
            /* a team fails as one */
            if (!skips_single || bad == 0)
                say_off(battery, test, rank);
            bad++;
        }
        if (bad == 0)
            say_good(battery, test, first);
    }
}

/* Ranks that compute right to the tolerance, but not to the bit as most of those do: another
 * processor, or the beginning of an end. Where there is no majority nobody is named as the one. */
static void judge_digests(const struct battery *battery)
{
    int ranks = battery->party.ranks, right = 0, most = 0, common = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int same = 0;

        if (is_off(&battery->outcomes[rank]))
            continue;
        right++;
        for (int other = 0; other < ranks; other++)
            same += !is_off(&battery->outcomes[other]) &&
                    battery->outcomes[other].digest == battery->outcomes[rank].digest;
        if (same > most) {
            most = same;
            common = rank;
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        struct record record = RECORD_INIT;

        if (battery->outcomes[rank].digest == battery->outcomes[common].digest ||
            is_off(&battery->outcomes[rank]))
            continue;
        record.test = "train.one";
        record.metric = "digest";
        record.code = FAULT_TRAINING_DIFFERS;
        record.verdict = VERDICT_WARN;
        if (2 * most > right)
            say(battery, &record, rank,
                "its parameters after %d steps are not to the bit those of %d of %d ranks: another "
                "kind of processor, or one that computes wrongly",
                TRIAL_STEPS, most, right);
        else
            say(battery, &record, -1,
                "rank %d on %s has parameters after %d steps that are not to the bit those of rank "
                "%d on %s: different kinds of processors, or one computes wrongly; more ranks "
                "would tell which",
                rank, battery->party.names[rank], TRIAL_STEPS, common,
                battery->party.names[common]);
    }
}

static void tell(struct battery *battery, const struct trial_outcome *outcome)
{
    team_tell(battery->all, outcome, sizeof *outcome, battery->outcomes);
}

static void phase(const struct battery *battery, const char *test)
{
    watch_phase("%s", test);
    if (battery->party.rank == 0)
        output_progress("%s", test);
}

static void run_one(struct battery *battery)
{
    struct trial trial = {&scheme_ddp, &battery->plant, NULL};
    struct trial_outcome outcome;

    phase(battery, "train.one");
    trial_run(&trial, battery->alone, &outcome);
    tell(battery, &outcome);
    if (battery->party.rank == 0) {
        judge_nodes(battery, "train.one", false);
        judge_digests(battery);
    }
}

/* All ranks at once, each by itself: as busy as a node is when it trains. */
static void run_one_speed(struct battery *battery, double seconds)
{
    int ranks = battery->party.ranks;
    double *rates = team_words(battery->all, sizeof *rates), median;
    struct error *why = team_words(battery->all, sizeof *why), err = {""};
    struct trial_speed speed;

    phase(battery, "train.one speed");
    if (trial_speed(battery->alone, &battery->plant, seconds, &speed, &err) != 0)
        speed.tokens_per_s = NAN;
    team_tell(battery->all, &speed.tokens_per_s, sizeof *rates, rates);
    team_tell(battery->all, &err, sizeof *why, why);
    median = statistics_median(rates, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) {
        struct record record = RECORD_INIT;
        bool is_slow = ranks > 2 && rates[rank] < SLOW * median;

        battery->speed_alone += rates[rank];
        if (battery->party.rank != 0)
            continue;
        record.test = "train.one";
        record.metric = "throughput";
        if (isnan(rates[rank])) {
            record.verdict = VERDICT_UNKNOWN;
            say(battery, &record, rank, "its speed was not measured: %s", why[rank].text);
            continue;
        }
        record.value = rates[rank];
        record.unit = "tokens/s";
        if (is_slow) {
            record.limit = SLOW * median;
            record.limit_source = "peers";
            record.verdict = VERDICT_WARN;
            record.code = FAULT_TRAINING_SLOW;
            say(battery, &record, rank, "%.0f %% of the median of %d ranks: a straggler",
                100 * rates[rank] / median, ranks);
        } else {
            say(battery, &record, rank, "%s", "");
        }
    }
    free(rates);
    free(why);
}

static void run_node(struct battery *battery)
{
    struct trial trial = {&scheme_ddp, NULL, NULL};
    struct trial_outcome outcome;

    phase(battery, "train.node");
    trial_run(&trial, battery->node, &outcome);
    tell(battery, &outcome);
    if (battery->party.rank == 0)
        judge_nodes(battery, "train.node", true);
}

static int take_away(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* A run that was killed could not take its directory away. Only what is this user's own goes, and
 * what no run can use any more. */
static void take_away_old(const char *base)
{
    DIR *entries = opendir(base);
    const struct dirent *entry;
    char path[PATH_MAX];
    struct stat status;

    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, CHECKPOINT_PREFIX, strlen(CHECKPOINT_PREFIX)) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
            status.st_mtime < time(NULL) - OLD_S &&
            (size_t)snprintf(path, sizeof path, "%s/%s", base, entry->d_name) < sizeof path)
            nftw(path, take_away, 16, FTW_DEPTH | FTW_PHYS);
    if (entries)
        closedir(entries);
}

/* Half of a training, a checkpoint on the node's own disk, and the rest from it: to the bit. */
static void run_checkpoint(struct battery *battery, uint32_t digest)
{
    struct trial trial = {&scheme_ddp, NULL, NULL};
    struct trial_outcome outcome;
    const char *base = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char directory[PATH_MAX] = "";
    bool leads = team_seat(battery->node).rank == 0;

    phase(battery, "train.checkpoint");
    if (leads) {
        take_away_old(base);
        snprintf(directory, sizeof directory, "%s/" CHECKPOINT_PREFIX "XXXXXX", base);
        if (!mkdtemp(directory))
            directory[0] = '\0';
    }
    team_repeat(battery->node, directory, sizeof directory);
    trial.checkpoint = directory;
    if (directory[0]) {
        trial_run(&trial, battery->node, &outcome);
    } else {
        outcome = (struct trial_outcome){.rv = -1, .worst = NAN};
        snprintf(outcome.text, sizeof outcome.text, "%s: no directory can be made there", base);
    }
    if (leads && directory[0] && nftw(directory, take_away, 16, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "muster-train: %s could not be removed: %m\n", directory);
    if (outcome.rv == 0 && outcome.digest != digest) {
        outcome.rv = -1;
        snprintf(outcome.text, sizeof outcome.text,
                 "a training that goes on from a checkpoint comes to other bits than one in one "
                 "go");
    }
    tell(battery, &outcome);
    if (battery->party.rank == 0)
        judge_nodes(battery, "train.checkpoint", false);
}

/* All ranks together. Who is at fault is in the text, if anybody knows. */
static void run_nodes(struct battery *battery, const struct scheme *scheme)
{
    struct trial trial = {scheme, NULL, NULL};
    struct trial_outcome outcome;
    struct record record = RECORD_INIT;

    phase(battery, scheme == &scheme_ddp ? "train.nodes" : "train.model");
    trial_run(&trial, battery->all, &outcome);
    if (battery->party.rank != 0)
        return;
    record.test = scheme == &scheme_ddp ? "train.nodes" : "train.model";
    record.metric = "loss";
    record.value = outcome.worst;
    record.unit = isfinite(outcome.worst) ? "nats" : NULL;
    record.limit = TRIAL_TOLERANCE;
    record.limit_source = "reference";
    record.verdict = is_off(&outcome) ? VERDICT_FAIL : VERDICT_PASS;
    if (outcome.rv != 0)
        say(battery, &record, -1, "%s on %d ranks: %s", scheme->name, battery->party.ranks,
            outcome.text);
    else if (is_off(&outcome))
        say(battery, &record, -1,
            "%s on %d ranks: the loss of step %d is %.9f, %.3g off the reference, though each rank "
            "by itself is right: what they exchange is wrong",
            scheme->name, battery->party.ranks, outcome.step, outcome.found, outcome.worst);
    else
        say(battery, &record, -1, "%s on %d ranks, parameters equal after each step", scheme->name,
            battery->party.ranks);
}

static void run_nodes_speed(struct battery *battery, double seconds)
{
    struct trial_speed speed;
    struct record record = RECORD_INIT;
    struct error err;
    int rv;

    phase(battery, "train.nodes speed");
    rv = trial_speed(battery->all, NULL, seconds, &speed, &err);
    if (battery->party.rank != 0)
        return;
    record.test = "train.nodes";
    record.metric = "throughput";
    if (rv != 0) {
        record.verdict = VERDICT_UNKNOWN;
        say(battery, &record, -1, "the speed of %d ranks was not measured: %s",
            battery->party.ranks, err.text);
        return;
    }
    record.value = speed.tokens_per_s;
    record.unit = "tokens/s";
    say(battery, &record, -1, "%s", "");
    record.unit = "1";
    record.metric = "efficiency";
    record.value = speed.tokens_per_s / battery->speed_alone;
    if (!isnan(record.value))
        say(battery, &record, -1, "of %.0f tokens/s of %d ranks each by itself",
            battery->speed_alone, battery->party.ranks);
    record.metric = "communication";
    record.value = speed.waited_share;
    say(battery, &record, -1, "share of the time that rank 0 waited");
}

/* Each rank reads its share of some batches; what all read must be what one reads. */
static void run_data(struct battery *battery)
{
    enum { BATCH = 61, TIME = 16, STEPS = 50 };
    struct dataset dataset = {42, 50257, BATCH, TIME, false, NULL};
    int ranks = battery->party.ranks, rank = battery->party.rank;
    int32_t inputs[BATCH * TIME], targets[BATCH * TIME];
    uint64_t digest = 0, whole = 0, sum = 0, *all = team_words(battery->all, sizeof *all);
    struct record record = RECORD_INIT;

    phase(battery, "train.data");
    for (uint64_t step = 0; step < STEPS; step++) {
        int first, count = placement_share(BATCH, rank, ranks, &first);

        dataset_read(&dataset, step, first, count, inputs, targets);
        for (int row = first; row < first + count; row++)
            digest += crc32c((uint32_t)(step * BATCH + (uint64_t)row),
                             (const uint8_t *)(inputs + (row - first) * TIME), TIME * 4);
        dataset_read(&dataset, step, 0, BATCH, inputs, targets);
        for (int row = 0; row < BATCH; row++)
            whole += crc32c((uint32_t)(step * BATCH + (uint64_t)row),
                            (const uint8_t *)(inputs + row * TIME), TIME * 4);
    }
    team_tell(battery->all, &digest, sizeof digest, all);
    for (int i = 0; i < ranks; i++)
        sum += all[i];
    free(all);
    if (rank != 0)
        return;
    record.test = "train.data";
    record.verdict = sum == whole ? VERDICT_PASS : VERDICT_FAIL;
    say(battery, &record, -1,
        sum == whole ? "%d sequences, each read by one of %d ranks"
                     : "%d sequences are not each read by one of %d ranks",
        BATCH * STEPS, ranks);
}

void tests_run(struct battery *battery)
{
    double seconds = battery->is_quick ? 0.5 : 3;
    uint32_t digest;

    /* a fault on purpose is for the one rank that it names: each rank is rank 0 of its own team */
    battery->plant.rank = battery->plant.rank == battery->party.rank ? 0 : -1;
    run_one(battery);
    run_one_speed(battery, seconds);
    run_node(battery);
    digest = battery->outcomes[battery->party.rank].digest;
    run_checkpoint(battery, digest);
    run_data(battery);
    if (battery->party.ranks > 1) {
        run_nodes(battery, &scheme_ddp);
        run_nodes(battery, &scheme_zero3);
        run_nodes_speed(battery, seconds);
    }
}
