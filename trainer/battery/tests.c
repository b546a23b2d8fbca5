/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/battery/tests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/statistics.h"
#include "lib/base/text.h"
#include "lib/constants/trainer_constants.h"
#include "validate/harness/output.h"
#include "validate/harness/watch/watch.h"

#define CHECKPOINT_PREFIX "muster-train-"

static void write_record(const struct battery *battery, struct record *record, int rank,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* rank: the rank that the record is about; -1: none. */
static void write_record(const struct battery *battery, struct record *record, int rank,
                         const char *format, ...)
{
    char message[600], part[32];

    TEXT_FORMAT(message, sizeof message, format);
    record->message = message;
    if (rank >= 0) {
        snprintf(part, sizeof part, "rank %d", rank);
        record->part = part;
        record->node = battery->world.names[rank];
    }
    output_record(record);
}

static bool is_first_of_node(const struct battery *battery, int rank)
{
    for (int before = 0; before < rank; before++)
        if (strcmp(battery->world.names[before], battery->world.names[rank]) == 0)
            return false;
    return true;
}

static bool has_company(const struct battery *battery, int rank)
{
    int ranks = 0;

    for (int other = 0; other < battery->world.ranks; other++)
        ranks += strcmp(battery->world.names[other], battery->world.names[rank]) == 0;
    return ranks > 1;
}

static bool is_off(const struct case_outcome *outcome)
{
    return outcome->rv != 0 || !(outcome->worst <= CASE_TOLERANCE);
}

/* Writes what is wrong with a rank's outcome. */
static void write_deviation(const struct battery *battery, const char *test, int rank)
{
    const struct case_outcome *outcome = &battery->outcomes[rank];
    struct record record = RECORD(.test = test, .metric = "loss", .verdict = VERDICT_FAIL);

    if (outcome->rv != 0) {
        if (outcome->is_unsaved)
            record.verdict = VERDICT_UNKNOWN;
        write_record(battery, &record, rank, "%s", outcome->text);
        return;
    }
    record.value = outcome->worst;
    record.unit = "nats";
    record.limit = CASE_TOLERANCE;
    record.limit_source = "reference";
    write_record(
        battery, &record, rank,
        "the loss %s %d is %.9f, %.3g from the reference: this rank computes wrong results",
        outcome->step == CASE_STEPS ? "after update" : "of step", outcome->step, outcome->found,
        outcome->worst);
}

/* Writes the pass of a node; value: the greatest distance of its ranks. */
static void write_pass(const struct battery *battery, const char *test, int first)
{
    struct record record =
        RECORD(.test = test, .metric = "loss", .node = battery->world.names[first], .value = 0,
               .unit = "nats", .limit = CASE_TOLERANCE, .limit_source = "reference",
               .verdict = VERDICT_PASS);

    for (int rank = 0; rank < battery->world.ranks; rank++)
        if (strcmp(battery->world.names[rank], record.node) == 0)
            record.value = fmax(record.value, battery->outcomes[rank].worst);
    write_record(battery, &record, -1, "%s", "");
}

/* Writes for each node the failures of its ranks, or its pass. skips_single: nodes with one rank
 * are skipped. */
static void judge_nodes(const struct battery *battery, const char *test, bool skips_single)
{
    for (int first = 0; first < battery->world.ranks; first++) {
        int bad = 0;

        if (!is_first_of_node(battery, first) || (skips_single && !has_company(battery, first)))
            continue;
        for (int rank = first; rank < battery->world.ranks; rank++) {
            if (strcmp(battery->world.names[rank], battery->world.names[first]) != 0 ||
                !is_off(&battery->outcomes[rank]))
                continue;
            /* the ranks of a communicator fail together */
            if (!skips_single || bad == 0)
                write_deviation(battery, test, rank);
            bad++;
        }
        if (bad == 0)
            write_pass(battery, test, first);
    }
}

/* Warns of ranks that are within the tolerance, but differ in bits from most of those that are:
 * they have another processor, or one that begins to fail. Without a majority no rank is named. */
static void judge_digests(const struct battery *battery)
{
    int ranks = battery->world.ranks, right = 0, most = 0, common = 0;

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
        struct record record;

        if (battery->outcomes[rank].digest == battery->outcomes[common].digest ||
            is_off(&battery->outcomes[rank]))
            continue;
        record = RECORD(.test = "train.one", .metric = "digest", .code = FAULT_TRAINING_DIFFERS,
                        .verdict = VERDICT_WARN);
        if (2 * most > right)
            write_record(battery, &record, rank,
                         "after %d steps, parameters differ in bits from those of %d of %d ranks: "
                         "a different processor model, or a processor that computes wrong results",
                         CASE_STEPS, most, right);
        else
            write_record(battery, &record, -1,
                         "parameters of rank %d on %s after %d steps differ in bits from those of "
                         "rank %d on %s: different processor models, or one computes wrong "
                         "results; run more ranks to find which",
                         rank, battery->world.names[rank], CASE_STEPS, common,
                         battery->world.names[common]);
    }
}

static void share_outcome(struct battery *battery, const struct case_outcome *outcome)
{
    comm_all_gather(battery->all, outcome, sizeof *outcome, battery->outcomes);
}

static void phase(const struct battery *battery, const char *test)
{
    watch_phase("%s", test);
    if (battery->world.rank == 0)
        output_progress("%s", test);
}

static void run_one(struct battery *battery)
{
    struct test_case test_case = {&strategy_ddp, &battery->injection, NULL};
    struct case_outcome outcome;

    phase(battery, "train.one");
    case_run(&test_case, battery->alone, &outcome);
    share_outcome(battery, &outcome);
    if (battery->world.rank == 0) {
        judge_nodes(battery, "train.one", false);
        judge_digests(battery);
    }
}

/* Measures all ranks at once, each training alone, so that nodes are as busy as in training. */
static void run_one_speed(struct battery *battery, double seconds)
{
    int ranks = battery->world.ranks;
    double *rates = comm_gather_buffer(battery->all, sizeof *rates), median;
    struct case_speed *speeds = comm_gather_buffer(battery->all, sizeof *speeds);
    struct error *why = comm_gather_buffer(battery->all, sizeof *why), err = {""};
    struct case_speed speed = {0};

    phase(battery, "train.one speed");
    if (case_speed(battery->alone, &battery->injection, seconds, &speed, &err) != 0)
        speed.tokens_per_s = NAN;
    comm_all_gather(battery->all, &speed, sizeof speed, speeds);
    comm_all_gather(battery->all, &err, sizeof *why, why);
    for (int rank = 0; rank < ranks; rank++)
        rates[rank] = speeds[rank].tokens_per_s;
    median = statistics_median(rates, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) {
        struct record record;
        const double stalled = speeds[rank].stalled_share;

        battery->speed_alone += rates[rank];
        if (battery->world.rank != 0)
            continue;
        record = RECORD(.test = "train.one", .metric = "throughput");
        if (isnan(rates[rank])) {
            record.verdict = VERDICT_UNKNOWN;
            write_record(battery, &record, rank, "could not measure the speed: %s", why[rank].text);
            continue;
        }
        record.value = rates[rank];
        record.unit = "tokens/s";
        record.stalled = stalled;
        record.verdict = case_speed_judge(&speeds[rank], median, ranks);
        if (record.verdict == VERDICT_SKIP) {
            write_record(battery, &record, rank,
                         "not judged: it was not scheduled for %.0f %% of the time", 100 * stalled);
        } else if (record.verdict == VERDICT_WARN) {
            record.limit = TRAIN_SPEED_LEAST_SHARE * median;
            record.limit_source = "peers";
            record.code = FAULT_TRAINING_SLOW;
            write_record(battery, &record, rank, "straggler: %.0f %% of the median of %d ranks",
                         100 * rates[rank] / median, ranks);
        } else {
            write_record(battery, &record, rank, "%s", "");
        }
    }
    free(rates);
    free(speeds);
    free(why);
}

static void run_node(struct battery *battery)
{
    struct test_case test_case = {&strategy_ddp, NULL, NULL};
    struct case_outcome outcome;

    phase(battery, "train.node");
    case_run(&test_case, battery->node, &outcome);
    share_outcome(battery, &outcome);
    if (battery->world.rank == 0)
        judge_nodes(battery, "train.node", true);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* Removes directories of runs that were killed: only this user's, and only those so old that no run
 * uses them any more. */
static void remove_stale_directories(const char *base)
{
    DIR *entries = opendir(base);
    const struct dirent *entry;
    char path[PATH_MAX];
    struct stat status;

    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, CHECKPOINT_PREFIX, strlen(CHECKPOINT_PREFIX)) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
            status.st_mtime < time(NULL) - TRAIN_OLD_S &&
            (size_t)snprintf(path, sizeof path, "%s/%s", base, entry->d_name) < sizeof path)
            nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (entries)
        closedir(entries);
}

/* Makes a directory on the node's own disk, or if that cannot be written to, as on a node without
 * one, in its memory. "": neither was possible; text says why. */
static void directory_make(char directory[PATH_MAX], char *text, size_t size)
{
    const char *named = getenv("TMPDIR");
    const char *const bases[] = {named && *named ? named : "/tmp", "/dev/shm"};

    *text = '\0';
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        remove_stale_directories(bases[i]);
        if (snprintf(directory, PATH_MAX, "%s/" CHECKPOINT_PREFIX "XXXXXX", bases[i]) < PATH_MAX &&
            mkdtemp(directory))
            return;
        text_put(text + strlen(text), size - strlen(text),
                 "%s%s: cannot create a directory there: %s", *text ? "; " : "", bases[i],
                 strerror(errno));
    }
    directory[0] = '\0';
}

/* Trains half, writes a checkpoint on the node itself, and trains the rest from it: the parameters
 * must be equal to the bit to those of an uninterrupted training. */
static void run_checkpoint(struct battery *battery, uint32_t digest)
{
    struct test_case test_case = {&strategy_ddp, NULL, NULL};
    struct case_outcome outcome;
    char directory[PATH_MAX] = "", why[sizeof outcome.text] = "";
    bool leads = comm_rank_info(battery->node).rank == 0;

    phase(battery, "train.checkpoint");
    if (leads)
        directory_make(directory, why, sizeof why);
    comm_broadcast(battery->node, directory, sizeof directory);
    comm_broadcast(battery->node, why, sizeof why);
    test_case.checkpoint = directory;
    if (directory[0]) {
        case_run(&test_case, battery->node, &outcome);
    } else {
        outcome = (struct case_outcome){.rv = -1, .is_unsaved = true, .worst = NAN};
        memcpy(outcome.text, why, sizeof outcome.text);
    }
    if (leads && directory[0] && nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "muster-train: cannot remove %s: %m\n", directory);
    if (outcome.rv == 0 && outcome.digest != digest) {
        outcome.rv = -1;
        snprintf(outcome.text, sizeof outcome.text,
                 "training resumed from a checkpoint differs in bits from uninterrupted training");
    }
    share_outcome(battery, &outcome);
    if (battery->world.rank == 0)
        judge_nodes(battery, "train.checkpoint", false);
}

/* Trains on all ranks together. The text names the faulty rank, if it is known. */
static void run_nodes(struct battery *battery, const struct strategy *strategy)
{
    struct test_case test_case = {strategy, NULL, NULL};
    struct case_outcome outcome;
    struct record record;

    phase(battery, strategy == &strategy_ddp ? "train.nodes" : "train.model");
    case_run(&test_case, battery->all, &outcome);
    if (battery->world.rank != 0)
        return;
    record =
        RECORD(.test = strategy == &strategy_ddp ? "train.nodes" : "train.model", .metric = "loss",
               .value = outcome.worst, .unit = isfinite(outcome.worst) ? "nats" : NULL,
               .limit = CASE_TOLERANCE, .limit_source = "reference",
               .verdict = is_off(&outcome) ? VERDICT_FAIL : VERDICT_PASS);
    if (outcome.rv != 0)
        write_record(battery, &record, -1, "%s on %d ranks: %s", strategy->name,
                     battery->world.ranks, outcome.text);
    else if (is_off(&outcome))
        write_record(battery, &record, -1,
                     "%s on %d ranks: the loss of step %d is %.9f, %.3g from the reference, but "
                     "each rank alone is correct: data exchanged between ranks is wrong",
                     strategy->name, battery->world.ranks, outcome.step, outcome.found,
                     outcome.worst);
    else
        write_record(battery, &record, -1, "%s on %d ranks, parameters equal after each step",
                     strategy->name, battery->world.ranks);
}

static void run_nodes_speed(struct battery *battery, double seconds)
{
    struct case_speed speed;
    struct record record;
    struct error err;
    int rv;

    phase(battery, "train.nodes speed");
    rv = case_speed(battery->all, NULL, seconds, &speed, &err);
    if (battery->world.rank != 0)
        return;
    record = RECORD(.test = "train.nodes", .metric = "throughput");
    if (rv != 0) {
        record.verdict = VERDICT_UNKNOWN;
        write_record(battery, &record, -1, "could not measure the speed of %d ranks: %s",
                     battery->world.ranks, err.text);
        return;
    }
    record.value = speed.tokens_per_s;
    record.unit = "tokens/s";
    write_record(battery, &record, -1, "%s", "");
    record.unit = "1";
    record.metric = "efficiency";
    record.value = speed.tokens_per_s / battery->speed_alone;
    if (!isnan(record.value))
        write_record(battery, &record, -1, "of %.0f tokens/s, the sum of %d ranks measured alone",
                     battery->speed_alone, battery->world.ranks);
    record.metric = "communication";
    record.value = speed.waited_share;
    write_record(battery, &record, -1, "fraction of the time that rank 0 waited for other ranks");
}

/* Each rank reads its share of some batches; together they must be what one rank reads. */
static void run_data(struct battery *battery)
{
    enum { BATCH = 61, TIME = 16, STEPS = 50 };
    struct dataset dataset = {42, 50257, BATCH, TIME, false, NULL};
    int ranks = battery->world.ranks, rank = battery->world.rank;
    int32_t inputs[BATCH * TIME], targets[BATCH * TIME];
    uint64_t digest = 0, whole = 0, sum = 0, *all = comm_gather_buffer(battery->all, sizeof *all);
    struct record record;

    phase(battery, "train.data");
    for (uint64_t step = 0; step < STEPS; step++) {
        int first, count = placement_share(BATCH, rank, ranks, &first);

        dataset_read(&dataset, step, first, count, inputs, targets);
        for (int row = first; row < first + count; row++)
            digest += crc32c((uint32_t)(step * BATCH + (uint64_t)row),
                             inputs + (row - first) * TIME, TIME * 4);
        dataset_read(&dataset, step, 0, BATCH, inputs, targets);
        for (int row = 0; row < BATCH; row++)
            whole +=
                crc32c((uint32_t)(step * BATCH + (uint64_t)row), inputs + row * TIME, TIME * 4);
    }
    comm_all_gather(battery->all, &digest, sizeof digest, all);
    for (int i = 0; i < ranks; i++)
        sum += all[i];
    free(all);
    if (rank != 0)
        return;
    record = RECORD(.test = "train.data", .verdict = sum == whole ? VERDICT_PASS : VERDICT_FAIL);
    write_record(battery, &record, -1,
                 sum == whole ? "%d sequences, each read by exactly one of %d ranks"
                              : "the %d sequences were not each read by exactly one of %d ranks",
                 BATCH * STEPS, ranks);
}

void tests_run(struct battery *battery)
{
    double seconds = battery->is_quick ? 0.5 : 3;
    uint32_t digest;

    /* the fault is for the rank that it names, which is rank 0 of its own communicator */
    battery->injection.rank = battery->injection.rank == battery->world.rank ? 0 : -1;
    run_one(battery);
    run_one_speed(battery, seconds);
    run_node(battery);
    digest = battery->outcomes[battery->world.rank].digest;
    run_checkpoint(battery, digest);
    run_data(battery);
    if (battery->world.ranks > 1) {
        run_nodes(battery, &strategy_ddp);
        run_nodes(battery, &strategy_zero3);
        run_nodes_speed(battery, seconds);
    }
}
