/* SPDX-License-Identifier: Apache-2.0 */
/* sim: the schedule, the judge and the localization on synthetic fabrics with injected faults.
 *
 *   sim short       a few fabrics, half a minute; exit status 1 when a goal is missed
 *   sim long        all of them
 *   sim row N       the N-th row of what long prints
 *   sim kind K N    the K-th kind of fault by itself, N of it
 *   sim times N     what comes and goes with time in small clusters, N of each
 *   sim healthy N   such clusters where nothing does
 *   sim busy N      such clusters on busy machines, N of each kind of fault and load
 *   sim calibrate RUNS [FIRST]
 *                   stated probabilities against how often they are right, of certifications from
 *                   that number on; exit status 1 when they state too much
 *   sim calibrate -  the same of the lines that runs with -v have printed
 *   sim one KIND NODES RAILS LEAF OVERSUBSCRIPTION all|few|CONFIDENCE lab|worse BAD-PERCENT RUNS
 *
 * -v prints what was missed and what was named wrongly. The table is Markdown. The noise of the lab
 * is read from tests/sim/lab.noise of the sources, in $top_srcdir or the current directory. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/sim/busy.h"
#include "tests/sim/calibrate.h"
#include "tests/sim/certification.h"
#include "tests/sim/times.h"

/* What a quiet lab had, and a good deal worse, which is invented. A node's hiccups are invented in
 * both: on one machine they cannot be distinguished from the machine's. */
static struct noise lab_noise = {"lab", 0.003, 0, 0.002, NULL, false, 0};
static const struct noise worse_noise = {"worse", 0.04, 0.03, 0.01, NULL, false, 0};

/* Wall time of muster-links, seconds: a round of one rail in both directions, of all rails
 * together, and of suspects on one rail. Means of the runs that lab.noise is of. */
static const double rail_round_s = 1.45, together_round_s = 1.03, again_rail_s = 2.5;

struct tally {
    long runs, injected, found, right, false_findings, healthy, rounds, again_rounds;
    double diagnoses_s, wall_s;
};

#define ALL 0.0
#define FEW (1 - 1e-12)

struct setting {
    const char *name;
    enum fabric_kind kind;
    int nodes, rails, leaf_size;
    double oversubscription;
    double confidence; /* of the schedule; ALL: all pairs, FEW: the most rounds that any takes */
    const struct noise *noise;
    double bad_share; /* of the nodes */
    int runs;
    bool is_goal; /* has to reach the goals of DESIGN.md */
};

static const enum fault_kind common_kinds[] = {FAULT_RAIL, FAULT_SENDS, FAULT_RECEIVES,
                                               FAULT_DEAD, FAULT_NODE,  FAULT_HOST,
                                               FAULT_LEAF, FAULT_UPLINK};

static bool is_verbose;
static struct tally by_kind[FAULT_KINDS];

static void print_false(const struct finding *finding)
{
    if (is_verbose)
        printf("#   false: n%d %s: %s (confidence %.6f)\n", finding->node + 1, finding->part,
               finding->message, finding->confidence);
}

/* Injects, certifies and counts. kinds: of which each is injected `each` times, or at random until
 * bad_share of the nodes is bad. */
static void run(const struct setting *setting, const enum fault_kind *kinds, int kind_count,
                int injected, uint64_t seed, struct tally *tally)
{
    struct fabric fabric;
    struct fault *faults;
    struct run_result result;
    int count = 0, *stated, false_findings;
    uint64_t random = seed * 7919 + 17;
    double rounds_s;

    fabric_make(&fabric, setting->kind, setting->nodes, setting->rails, setting->leaf_size, 100000,
                setting->oversubscription);
    faults = sim_allocate((size_t)injected + 1, sizeof *faults);
    stated = sim_allocate((size_t)setting->nodes, sizeof *stated);
    memcpy(stated, fabric.leaf, (size_t)setting->nodes * sizeof *stated);
    for (int i = 0; i < injected; i++) {
        enum fault_kind kind = kinds[sim_random(&random) % (uint64_t)kind_count];

        /* few switches are bad among many nodes */
        if ((kind == FAULT_LEAF || kind == FAULT_UPLINK) && injected > 8 && i % 16 != 0)
            kind = FAULT_RAIL;
        fault_inject(&fabric, stated, kind, faults, &count, &random);
    }
    run_certification(&(struct run_plan){.fabric = &fabric,
                                         .stated = stated,
                                         .faults = faults,
                                         .fault_count = count,
                                         .confidence = setting->confidence,
                                         .has_together = true,
                                         .has_received = setting->nodes <= 256,
                                         .noise = *setting->noise,
                                         .seed = seed},
                      &result);
    false_findings =
        fault_match(result.localization.findings.items, (int)result.localization.findings.count,
                    faults, count, print_false);
    for (int i = 0; i < count; i++) {
        struct tally *kind = &by_kind[faults[i].kind];

        tally->found += faults[i].is_found;
        tally->right += faults[i].is_right;
        kind->injected++;
        kind->found += faults[i].is_found;
        kind->right += faults[i].is_right;
        if (is_verbose && !faults[i].is_right)
            printf("#   %s: %s n%d leaf%d eth%d %.2f\n", faults[i].is_found ? "misnamed" : "missed",
                   fault_names[faults[i].kind], faults[i].node + 1, faults[i].leaf + 1,
                   faults[i].rail + 1, faults[i].share);
        if (is_verbose && !faults[i].is_right)
            for (size_t k = 0; k < result.localization.findings.count && k < 12; k++)
                printf("#     %s n%d %s: %s\n",
                       verdict_name(result.localization.findings.items[k].verdict),
                       result.localization.findings.items[k].node + 1,
                       result.localization.findings.items[k].part,
                       result.localization.findings.items[k].message);
    }
    rounds_s =
        result.rounds * rail_round_s * setting->rails + result.together_rounds * together_round_s;
    tally->runs++;
    tally->injected += count;
    tally->false_findings += false_findings;
    tally->healthy += (long)setting->nodes * setting->rails + 2L * fabric.leaves - count;
    tally->rounds = result.rounds;
    tally->again_rounds =
        result.again_rounds > tally->again_rounds ? result.again_rounds : tally->again_rounds;
    tally->diagnoses_s = fmax(tally->diagnoses_s, result.diagnoses_s);
    tally->wall_s =
        fmax(tally->wall_s, rounds_s + result.again_rounds * again_rail_s * setting->rails);
    run_clear(&result);
    free(faults);
    free(stated);
    fabric_clear(&fabric);
}

static double percent(long part, long all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : NAN;
}

static double memory_mb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void print_share(char *text, size_t size, long part, long all)
{
    if (all > 0)
        snprintf(text, size, "%.2f %%", percent(part, all));
    else
        snprintf(text, size, "-");
}

static const char head[] =
    "| fabric | nodes | rails | pairs | noise | bad nodes | runs | faults | found | right part | "
    "false | rounds | again | wall, s | s | MB |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

static const char *pairs_name(double confidence)
{
    static char text[16];

    snprintf(text, sizeof text, "%g", confidence);
    return confidence == ALL ? "all" : confidence == FEW ? "few" : text;
}

static void print_setting(const struct setting *setting, const struct tally *tally)
{
    char found[16], right[16];

    print_share(found, sizeof found, tally->found, tally->injected);
    print_share(right, sizeof right, tally->right, tally->injected);
    printf("| %s | %d | %d | %s | %s | %g %% | %ld | %ld | %s | %s | %.4f %% | %ld | %ld | %.0f | "
           "%.2f | %.0f |\n",
           setting->name, setting->nodes, setting->rails, pairs_name(setting->confidence),
           setting->noise->name, 100 * setting->bad_share, tally->runs, tally->injected, found,
           right, percent(tally->false_findings, tally->healthy), tally->rounds,
           tally->again_rounds, tally->wall_s, tally->diagnoses_s, memory_mb());
    fflush(stdout);
}

static struct tally play(const struct setting *setting)
{
    struct tally tally = {0};

    for (int i = 0; i < setting->runs; i++)
        run(setting, common_kinds, (int)(sizeof common_kinds / sizeof *common_kinds),
            (int)(setting->bad_share * setting->nodes + 0.5), (uint64_t)i + 1, &tally);
    return tally;
}

static void add(struct tally *sum, const struct tally *tally)
{
    sum->injected += tally->injected;
    sum->found += tally->found;
    sum->right += tally->right;
    sum->false_findings += tally->false_findings;
    sum->healthy += tally->healthy;
}

static bool goal(bool holds, const char *text)
{
    printf("%s: %s\n", holds ? "reached" : "MISSED", text);
    return holds;
}

/* A kind of fault by itself, where it can be seen. */
static void play_kind(enum fault_kind kind, int runs, bool is_large)
{
    static const struct setting small[] = {
        {"fat tree", FABRIC_TREE, 32, 2, 8, 1, ALL, &lab_noise, 0, 0, false},
        {"fat tree, 4:1", FABRIC_TREE, 32, 2, 8, 4, ALL, &lab_noise, 0, 0, false},
        {"leaves joined directly", FABRIC_MESH, 64, 2, 8, 1, ALL, &lab_noise, 0, 0, false},
    };
    static const struct setting large[] = {
        {"fat tree", FABRIC_TREE, 128, 2, 16, 1, ALL, &lab_noise, 0, 0, false},
        {"fat tree, 4:1", FABRIC_TREE, 128, 2, 16, 4, ALL, &lab_noise, 0, 0, false},
        {"leaves joined directly", FABRIC_MESH, 64, 2, 8, 1, ALL, &lab_noise, 0, 0, false},
    };

    const struct setting *setting = (is_large ? large : small) + (kind == FAULT_MISPLACED ? 1
                                                                  : kind == FAULT_TRUNK   ? 2
                                                                                          : 0);
    struct tally tally = {0};

    by_kind[kind] = (struct tally){0};
    for (int i = 0; i < runs; i++)
        run(setting, &kind, 1, 1, (uint64_t)(1000 + i), &tally);
    printf("| %s | %s | %ld | %.1f %% | %.1f %% | %ld |\n", fault_names[kind], setting->name,
           by_kind[kind].injected, percent(by_kind[kind].found, by_kind[kind].injected),
           percent(by_kind[kind].right, by_kind[kind].injected), tally.false_findings);
    fflush(stdout);
}

static const struct setting short_settings[] = {
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, FEW, &lab_noise, 0.02, 10, true},
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, FEW, &worse_noise, 0, 5, true},
    {"rail-optimized", FABRIC_RAILS, 256, 4, 32, 1, FEW, &lab_noise, 0.02, 1, true},
};

static const struct setting long_settings[] = {
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, FEW, &lab_noise, 0, 100, true},
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, FEW, &worse_noise, 0, 50, true},
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, FEW, &lab_noise, 0.02, 100, true},
    {"fat tree", FABRIC_TREE, 64, 2, 16, 1, ALL, &worse_noise, 0.02, 10, false},
    {"fat tree", FABRIC_TREE, 256, 2, 16, 1, FEW, &lab_noise, 0.02, 10, true},
    {"fat tree", FABRIC_TREE, 256, 2, 16, 1, ALL, &lab_noise, 0.02, 1, false},
    {"rail-optimized", FABRIC_RAILS, 256, 8, 32, 1, FEW, &lab_noise, 0.02, 2, true},
    {"fat tree", FABRIC_TREE, 1024, 2, 32, 1, FEW, &lab_noise, 0.005, 2, true},
    {"fat tree", FABRIC_TREE, 1024, 2, 32, 1, FEW, &lab_noise, 0.02, 2, true},
    {"fat tree", FABRIC_TREE, 1024, 2, 32, 1, FEW, &worse_noise, 0.02, 1, true},
    {"fat tree, 2:1", FABRIC_TREE, 1024, 2, 32, 2, FEW, &lab_noise, 0.02, 1, true},
    {"rail-optimized", FABRIC_RAILS, 1024, 4, 32, 1, FEW, &lab_noise, 0.02, 1, true},
    {"rail-optimized", FABRIC_RAILS, 1024, 4, 32, 1, FEW, &worse_noise, 0.02, 1, true},
    {"fat tree", FABRIC_TREE, 4096, 2, 32, 1, FEW, &lab_noise, 0.01, 1, true},
    {"fat tree", FABRIC_TREE, 1024, 2, 32, 1, ALL, &lab_noise, 0.01, 1, false},
};

static void play_times(int runs, bool is_healthy)
{
    times_play(&(struct times_plan){runs, is_healthy, &lab_noise, is_verbose});
}

static void play_busy(int runs)
{
    busy_play(&(struct busy_plan){runs, &lab_noise, is_verbose});
}

static int play_all(const struct setting *settings, size_t count, int kind_runs)
{
    struct tally sum = {0};
    bool holds = true, is_short = true, is_fast = true, is_long = settings == long_settings;

    fputs(head, stdout);
    for (size_t i = 0; i < count; i++) {
        const struct setting *setting = &settings[i];
        struct tally tally = play(setting);

        print_setting(setting, &tally);
        if (setting->is_goal) {
            add(&sum, &tally);
            is_short = is_short && tally.rounds <= 2 * ceil(log2(setting->nodes)) + 8;
        } else if (setting->nodes == 1024) {
            is_fast = tally.diagnoses_s < 120 && memory_mb() < 1024;
        }
    }
    printf("\n| fault | fabric, all pairs | injected | found | right part | others named |\n"
           "|---|---|---|---|---|---|\n");
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        play_kind((enum fault_kind)kind, kind_runs, is_long);
    printf("\n");
    if (is_long) {
        play_times(5 * kind_runs, false);
        printf("\n");
    }
    holds = goal(1000 * sum.found >= 999 * sum.injected, "99.9 % of the faults are found") && holds;
    holds = goal(10000 * sum.false_findings <= sum.healthy,
                 "at most 0.01 % of the healthy parts are named") &&
            holds;
    holds = goal(is_short, "at most 2 lg N + 8 rounds where not all pairs are wanted") && holds;
    if (!settings[count - 1].is_goal)
        holds = goal(is_fast, "1,024 nodes with all pairs are diagnosed five times in under 2 "
                              "minutes and 1 GiB") &&
                holds;
    return holds ? 0 : 1;
}

static int play_one(char **words)
{
    struct setting setting = {.name = words[0],
                              .kind = words[0][0] == 't'   ? FABRIC_TREE
                                      : words[0][0] == 'r' ? FABRIC_RAILS
                                                           : FABRIC_MESH,
                              .nodes = atoi(words[1]),
                              .rails = atoi(words[2]),
                              .leaf_size = atoi(words[3]),
                              .oversubscription = atof(words[4]),
                              .confidence = strcmp(words[5], "all") == 0   ? ALL
                                            : strcmp(words[5], "few") == 0 ? FEW
                                                                           : atof(words[5]),
                              .noise = strcmp(words[6], "lab") == 0 ? &lab_noise : &worse_noise,
                              .bad_share = atof(words[7]) / 100,
                              .runs = atoi(words[8])};
    struct tally tally;

    if (setting.nodes < 2 || !(setting.confidence >= 0 && setting.confidence < 1) ||
        setting.rails < 1 || setting.leaf_size < 1 || !(setting.oversubscription >= 1) ||
        setting.runs < 1) {
        fprintf(stderr,
                "sim: a fabric has two nodes, a rail, a node on a leaf and a run at least\n");
        return 2;
    }
    fputs(head, stdout);
    tally = play(&setting);
    print_setting(&setting, &tally);
    return 0;
}

static void noise_find(void)
{
    const char *sources = getenv("top_srcdir");
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/sim/lab.noise", sources ? sources : ".");
    lab_noise.recordings = noise_read(path);
}

static int play_row(const char *word)
{
    char *end;
    long row = strtol(word, &end, 10), rows = (long)(sizeof long_settings / sizeof *long_settings);
    struct tally tally;

    if (*end || end == word || row < 1 || row > rows) {
        fprintf(stderr, "sim: row is '%s', expected a number from 1 to %ld\n", word, rows);
        return 2;
    }
    tally = play(&long_settings[row - 1]);
    print_setting(&long_settings[row - 1], &tally);
    return 0;
}

static int play_times_of(const char *word, bool is_healthy)
{
    int runs = atoi(word);

    if (runs < 1) {
        fprintf(stderr, "sim: %s is '%s', expected a number of runs\n",
                is_healthy ? "healthy" : "times", word);
        return 2;
    }
    play_times(runs, is_healthy);
    return 0;
}

int main(int argc, char **argv)
{
    int first = 1;

    noise_find();
    for (; first < argc && strcmp(argv[first], "-v") == 0; first++)
        is_verbose = true;
    if (argc == first + 1 && strcmp(argv[first], "short") == 0)
        return play_all(short_settings, sizeof short_settings / sizeof *short_settings, 2);
    if (argc == first + 1 && strcmp(argv[first], "long") == 0)
        return play_all(long_settings, sizeof long_settings / sizeof *long_settings, 8);
    if (argc == first + 2 && strcmp(argv[first], "times") == 0)
        return play_times_of(argv[first + 1], false);
    if (argc == first + 2 && strcmp(argv[first], "healthy") == 0)
        return play_times_of(argv[first + 1], true);
    if (argc == first + 2 && strcmp(argv[first], "busy") == 0 && atoi(argv[first + 1]) > 0) {
        play_busy(atoi(argv[first + 1]));
        return 0;
    }
    if (argc == first + 2 && strcmp(argv[first], "calibrate") == 0 &&
        strcmp(argv[first + 1], "-") == 0)
        return !calibrate_sum(stdin);
    if (argc >= first + 2 && argc <= first + 3 && strcmp(argv[first], "calibrate") == 0 &&
        atoi(argv[first + 1]) > 0)
        return !calibrate_play(
            &(struct calibrate_plan){argc > first + 2 ? atoi(argv[first + 2]) : 0,
                                     atoi(argv[first + 1]), &lab_noise, is_verbose});
    if (argc == first + 3 && strcmp(argv[first], "kind") == 0 && atoi(argv[first + 1]) > 0 &&
        atoi(argv[first + 1]) <= FAULT_KINDS && atoi(argv[first + 2]) > 0) {
        play_kind((enum fault_kind)(atoi(argv[first + 1]) - 1), atoi(argv[first + 2]), true);
        return 0;
    }
    if (argc == first + 2 && strcmp(argv[first], "row") == 0)
        return play_row(argv[first + 1]);
    if (argc == first + 10 && strcmp(argv[first], "one") == 0 && strchr("trm", argv[first + 1][0]))
        return play_one(argv + first + 1);
    fprintf(stderr, "usage: sim [-v] short | long | row N | kind K N | times N | healthy N | busy "
                    "N | calibrate RUNS [FIRST] | calibrate - | one "
                    "tree|rails|mesh NODES RAILS LEAF "
                    "OVERSUBSCRIPTION all|few|CONFIDENCE lab|worse BAD-PERCENT RUNS\n");
    return 2;
}
