/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/compare.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/command/command.h"
#include "validate/command/compare/show.h"
#include "validate/command/node_query.h"
#include "validate/compare/comparison.h"
#include "validate/policy/plan.h"
#include "validate/slurm/step/step.h"

enum { COMPLAINTS = 5 };

struct options {
    const char *nodes, *partition, *config, *golden, *save, *by;
    bool as_json, shows_all;
    char **files;
    int file_count;
};

struct compare {
    struct options options;
    struct conf conf;
    struct records records;
    struct hostlist incomplete; /* nodes whose facts are incomplete */
    struct name_index left_out; /* the same nodes */
    struct cluster cluster;
    struct hostlist named; /* the nodes of -w, or all */
    bool has_cluster, is_incomplete;
    char complaint[600]; /* the error of one of these nodes */
    unsigned by;
};

/* ---------------------------------------------------------------- facts from files */

/* Parses a line; lines of other tests, of which a run has many, are skipped. */
static void read_line(struct compare *compare, const char *path, unsigned number, const char *line,
                      unsigned *complaints)
{
    int result = strstr(line, catalog_tests[TEST_HOST_CONFIG].name) ||
                         strstr(line, catalog_tests[TEST_NET_ADDRESSES].name)
                     ? records_parse(&compare->records, line)
                     : 0;

    if (result == 0)
        return;
    compare->is_incomplete = true;
    if (++*complaints <= COMPLAINTS)
        fprintf(stderr, "muster compare: %s:%u: %s\n", path, number,
                result > 0 ? "ignored a line that is not a record" : "no memory for the record");
    if (*complaints == COMPLAINTS + 1)
        fprintf(stderr, "muster compare: %s: more such lines follow\n", path);
}

static int read_file(struct compare *compare, const char *path)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    unsigned number = 0, complaints = 0;
    char *line = NULL;
    size_t size = 0;
    int status = COMMAND_PASS;

    if (!stream)
        return command_failed(COMMAND_USAGE, "muster compare", "%s: %m", path);
    while (getline(&line, &size, stream) > 0)
        read_line(compare, path, ++number, line, &complaints);
    if (ferror(stream))
        status = command_failed(COMMAND_UNKNOWN, "muster compare", "%s: %m", path);
    free(line);
    if (stream != stdin)
        fclose(stream);
    return status;
}

/* Equal texts of records are the same pointer. */
static int compare_texts(const char *one, const char *other)
{
    return COMPARE((uintptr_t)one, (uintptr_t)other);
}

/* Compares by node, then so that equal facts of a node are adjacent. */
static int compare_records(const void *a, const void *b)
{
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

    return compare_texts(x->node, y->node) ?: compare_texts(x->test, y->test)
           ?: compare_texts(x->metric, y->metric) ?: compare_texts(x->part, y->part)
           ?: compare_texts(x->message, y->message);
}

/* Returns the newest run of a node's records; NULL if no record has a run. */
static const char *newest_run(struct record *const *records, size_t count)
{
    const struct record *newest = NULL;

    for (size_t i = 0; i < count; i++)
        if (records[i]->run && (!newest || records[i]->time > newest->time))
            newest = records[i];
    return newest ? newest->run : NULL;
}

/* Keeps of each node the records of its newest run and those without a run, each once; sets the
 * test of all others to NULL. The records come in any order. Returns the number of records of other
 * runs. */
static long leave_newest(struct record **order, size_t count)
{
    long others = 0;

    qsort(order, count, sizeof *order, compare_records);
    for (size_t first = 0, end; first < count; first = end) {
        const struct record *last = NULL;
        const char *run;

        for (end = first + 1; end < count && order[end]->node == order[first]->node;)
            end++;
        run = newest_run(&order[first], end - first);
        for (size_t i = first; i < end; i++) {
            bool is_other = order[i]->run && order[i]->run != run;

            others += is_other;
            if (is_other || (last && compare_records(&last, &order[i]) == 0))
                order[i]->test = NULL; /* left out */
            else
                last = order[i];
        }
    }
    return others;
}

/* Removes all records but these. Returns the number of removed records of other runs, or -1 if
 * memory is out. */
static long keep_newest(struct records *records)
{
    size_t count = records->count;
    struct record *all = malloc((count + 1) * sizeof *all);
    struct record **order = malloc((count + 1) * sizeof *order);
    long others = -1;

    if (all && order) {
        for (size_t i = 0; i < count; i++) {
            records_get(records, i, &all[i]);
            order[i] = &all[i];
        }
        others = leave_newest(order, count);
        records->count = 0;
        for (size_t i = 0; i < count; i++)
            if (all[i].test && records_add(records, &all[i]) != 0)
                others = -1;
    }
    free(all);
    free(order);
    return others;
}

/* ---------------------------------------------------------------- facts from nodes */

/* Takes a fact of a node. Returns whether it is the node's last one. */
static bool take_line(const char *node, const char *line, void *context)
{
    struct compare *compare = context;
    size_t known = compare->records.count;

    if (records_parse_own(&compare->records, node, line) < 0)
        compare->is_incomplete = true;
    return compare->records.count > known &&
           catalog_is_metric(RECORD_AT(&compare->records, known)->metric, METRIC_MUSTER);
}

static void take_silence(const char *node, const char *why, void *context)
{
    struct compare *compare = context;

    hostlist_append(&compare->incomplete, node);
    if (*why)
        text_put(compare->complaint, sizeof compare->complaint, "%s", why);
}

static bool is_fit(const struct cluster_node *node)
{
    return !node->is_down && !node->is_drained && !node->is_absent && !node->is_invalid &&
           node->is_responding;
}

/* Leaves out nodes whose CPUs are all in use, as the step would wait for them. Returns 0, or -1
 * with err if there are no others. */
static int leave_full(struct compare *compare, const struct hostlist *full, bool has_others,
                      struct error *err)
{
    if (full->count == 0)
        return has_others ? 0 : error_set(err, "no node can be queried");
    compare->is_incomplete = true;
    if (has_others)
        fprintf(stderr, "muster compare: %s: not queried, jobs use all CPUs\n",
                hostlist_text(full).text);
    else
        error_set(err,
                  "no node can be queried: jobs use all CPUs of %s; retry when each has a free "
                  "CPU, or compare files written there by muster check --json",
                  hostlist_text(full).text);
    return has_others ? 0 : -1;
}

/* Chooses the requested nodes that can run a job, and reports those that cannot. */
static int choose(struct compare *compare, const struct cluster_partition *partition,
                  struct hostlist *chosen, struct error *err)
{
    struct hostlist full = {0};
    struct name_index members;
    int rv;

    if (hostlist_index(&partition->nodes, &members) != 0)
        return error_set(err, "no memory");
    for (size_t i = 0; i < compare->named.count; i++) {
        const struct cluster_node *node = cluster_node(&compare->cluster, compare->named.names[i]);
        bool is_member = name_index_has(&members, node->name);

        if (is_fit(node) && is_member) {
            hostlist_append(node->is_full ? &full : chosen, node->name);
        } else if (is_member || compare->options.nodes) {
            compare->is_incomplete = true;
            fprintf(stderr, "muster compare: %s: not queried, it is %s\n", node->name,
                    is_member ? node->state : "in another partition: -p");
        }
    }
    rv = leave_full(compare, &full, chosen->count > 0, err);
    name_index_clear(&members);
    hostlist_clear(&full);
    return rv;
}

/* Returns the given partition, else that with most of the given nodes, or of all nodes if none are
 * given. */
static const struct cluster_partition *find_partition(const struct compare *compare,
                                                      struct error *err)
{
    const struct cluster_partition *partition =
        plan_partition(&compare->cluster, compare->options.partition,
                       (const char *const *)compare->named.names, compare->named.count);

    if (!partition && compare->options.nodes && !compare->options.partition)
        error_set(err, "no partition of this cluster that is up contains %s",
                  compare->options.nodes);
    else if (!partition)
        error_set(err, "no such partition in this cluster, or it is not up");
    return partition;
}

static int query_nodes(struct compare *compare, struct error *err)
{
    const struct cluster_partition *partition = find_partition(compare, err);
    struct hostlist chosen = {0};
    struct arguments program = {0};
    int rv;

    if (!partition)
        return -1;
    rv = choose(compare, partition, &chosen, err);
    step_add_muster(&program, "check", "--json", "--only=host.config,net.addresses", NULL);
    if (rv == 0 && isatty(2))
        fprintf(stderr, "querying %zu node%s of partition %s\n", chosen.count,
                text_plural(chosen.count), partition->name);
    if (rv == 0)
        node_query_in(&(struct node_query){.cluster = &compare->cluster,
                                           .program = program.argv,
                                           .deadline_s = COMPARE_DEADLINE_S,
                                           .take = take_line,
                                           .on_silence = take_silence,
                                           .context = compare},
                      partition->name, &chosen);
    if (rv == 0 && compare->records.count == 0)
        rv = error_set(err, "%s", *compare->complaint ? compare->complaint : "no node answered");
    if (rv == 0 && compare->incomplete.count > 0) {
        fprintf(stderr, "muster compare: %s: not compared, muster check did not complete%s%s\n",
                hostlist_text(&compare->incomplete).text, *compare->complaint ? ": " : "",
                compare->complaint);
        compare->is_incomplete = true;
    }
    arguments_clear(&program);
    hostlist_clear(&chosen);
    return rv;
}

/* ---------------------------------------------------------------- the command */

static int conclude(struct compare *compare, const struct comparison *comparison)
{
    struct error err;
    enum verdict worst = VERDICT_PASS, duplicates;

    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->deviations[i].verdict > worst)
            worst = comparison->deviations[i].verdict;
    if (compare->options.as_json) {
        show_records(comparison);
    } else {
        show_groups(comparison);
        if (compare->options.shows_all)
            show_values(comparison);
        show_differences(comparison);
    }
    duplicates = show_duplicates(&compare->records, compare->options.as_json);
    if (duplicates > worst)
        worst = duplicates;
    if (compare->options.save) {
        if (comparison_save(comparison, compare->options.save, &err) != 0)
            return command_failed(COMMAND_UNKNOWN, "muster compare", "%s", err.text);
        if (!compare->options.as_json)
            printf("\n%s written: the majority of each group; review it\n", compare->options.save);
    }
    if (worst == VERDICT_FAIL)
        return COMMAND_FAIL;
    return worst == VERDICT_UNKNOWN || compare->is_incomplete ? COMMAND_UNKNOWN : COMMAND_PASS;
}

/* Sets `named`. Returns COMMAND_PASS if the nodes of -w and the partition of -p exist. */
static int nodes_find(struct compare *compare)
{
    struct error err;

    if (compare->options.partition &&
        !plan_partition(&compare->cluster, compare->options.partition, NULL, 0))
        return command_misuse("muster compare", "no partition %s in this cluster",
                              compare->options.partition);
    for (size_t i = 0; !compare->options.nodes && i < compare->cluster.node_count; i++)
        hostlist_append(&compare->named, compare->cluster.nodes[i].name);
    if (compare->options.nodes &&
        (hostlist_expand_once(compare->options.nodes, &compare->named, &err) != 0 ||
         cluster_unknown_node(&compare->cluster, &compare->named, &err)))
        return command_misuse("muster compare", "%s", err.text);
    return COMMAND_PASS;
}

static int gather(struct compare *compare)
{
    struct options *options = &compare->options;
    struct error err = {""};
    int status = COMMAND_PASS;

    if (options->file_count == 0 || compare->by != 0) {
        step_clean_environment();
        if (cluster_open(&err) != 0 || cluster_load(&compare->cluster, &err) != 0)
            return command_failed(COMMAND_UNKNOWN, "muster compare", "%s%s", err.text,
                                  options->file_count ? "; --by=none does not need Slurm" : "");
        compare->has_cluster = true;
        status = nodes_find(compare);
    }
    for (int i = 0; i < options->file_count && status == COMMAND_PASS; i++)
        status = read_file(compare, options->files[i]);
    if (status == COMMAND_PASS && options->file_count > 0) {
        long others = keep_newest(&compare->records);

        if (others < 0)
            return command_failed(COMMAND_UNKNOWN, "muster compare", "no memory");
        if (others > 0)
            fprintf(stderr,
                    "muster compare: of each node its newest run; %ld record%s of other runs left "
                    "out\n",
                    others, text_plural((size_t)others));
    }
    if (options->file_count == 0 && status == COMMAND_PASS && query_nodes(compare, &err) != 0)
        status = command_failed(COMMAND_UNKNOWN, "muster compare", "%s", err.text);
    return status;
}

static bool is_complete(const void *context, const char *node)
{
    const struct compare *compare = context;

    return !name_index_has(&compare->left_out, node);
}

static int run(struct compare *compare)
{
    const struct options *options = &compare->options;
    struct comparison comparison = {0};
    struct error err;
    int status;

    if (options->by && conf_compare_parse(options->by, &compare->by) != 0)
        return command_misuse("muster compare",
                              "--by: found '%s', expected gres, features, partitions or none",
                              options->by);
    if (comparison_golden(&comparison,
                          options->golden ? options->golden : compare->conf.golden_path, &err) != 0)
        return command_failed(COMMAND_USAGE, "muster compare", "%s", err.text);
    status = gather(compare);
    if (status == COMMAND_PASS && hostlist_index(&compare->incomplete, &compare->left_out) != 0)
        status = command_failed(COMMAND_UNKNOWN, "muster compare", "no memory");
    if (status == COMMAND_PASS &&
        comparison_make(&comparison, &compare->records, 0, is_complete, compare,
                        compare->has_cluster ? &compare->cluster : NULL, compare->by, &err) != 0)
        status = command_failed(COMMAND_UNKNOWN, "muster compare", "%s", err.text);
    if (status == COMMAND_PASS && comparison.fact_count == 0)
        status =
            command_failed(COMMAND_UNKNOWN, "muster compare", "no facts of host.config to compare");
    if (status == COMMAND_PASS)
        status = conclude(compare, &comparison);
    comparison_clear(&comparison);
    return status;
}

static const struct option_row rows[] = {
    OPTION('a', "all", NULL, "print every value of every fact with its nodes", FLAG,
           OPTION_FIELD(struct options, shows_all)),
    OPTION('b', "by", "LIST",
           "group nodes by gres, features, partitions (comma-separated), in addition to their "
           "hardware, or none; instead of CompareBy (default for FILEs: none)",
           TEXT, OPTION_FIELD(struct options, by)),
    COMMAND_CONFIG(struct options),
    OPTION('g', "golden", "FILE",
           "golden file with the expected facts, instead of Golden of muster.conf", TEXT,
           OPTION_FIELD(struct options, golden)),
    COMMAND_JSON(struct options),
    OPTION('w', "nodes", "LIST",
           "compare these nodes, such as n[1-4], instead of the whole partition", TEXT,
           OPTION_FIELD(struct options, nodes)),
    OPTION('\0', "nodelist", "LIST", NULL, TEXT, OPTION_FIELD(struct options, nodes)),
    OPTION('p', "partition", "NAME", "this partition instead of the default one", TEXT,
           OPTION_FIELD(struct options, partition)),
    OPTION('s', "save-golden", "FILE", "write a golden file with the majority of each group", TEXT,
           OPTION_FIELD(struct options, save)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster compare",
    .usage = "muster compare [OPTION...] [FILE...]",
    .summary =
        "Prints nodes that differ from others of their kind in versions, settings or topology, by "
        "majority or against a golden file. Runs a small job on the nodes, or reads FILEs of JSON "
        "lines written by muster certify --json or muster check --json (-: standard input).",
    .status = "0 no difference that breaks jobs, 1 a difference that breaks jobs, 2 usage, 3 "
              "cannot read some nodes, lines or facts.",
    .rows = rows,
    .words = INT_MAX,
};

/* Returns -1 to continue, else the exit status. */
static int options_read(int argc, char **argv, struct options *options)
{
    int status = command_options(&set, argc, argv, options);

    if (status >= 0)
        return status;
    options->files = argv + optind;
    options->file_count = argc - optind;
    if (options->file_count > 0 && (options->nodes || options->partition))
        return command_misuse(set.name, "FILEs and nodes (-w, -p) are mutually exclusive");
    return -1;
}

int command_compare(int argc, char **argv)
{
    struct compare compare = {0};
    int status = options_read(argc, argv, &compare.options);

    if (status >= 0)
        return status;
    status = command_conf("muster compare", compare.options.config, &compare.conf);
    if (compare.options.file_count == 0)
        compare.by = compare.conf.compare_by;
    if (status == COMMAND_PASS)
        status = run(&compare);
    records_clear(&compare.records);
    name_index_clear(&compare.left_out);
    hostlist_clear(&compare.incomplete);
    hostlist_clear(&compare.named);
    cluster_clear(&compare.cluster);
    conf_clear(&compare.conf);
    return status;
}
