/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/compare/comparison.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/atomic_file.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"

enum { GOLDEN_MAX = 16 << 20 };

int comparison_golden(struct comparison *comparison, const char *path, struct error *err)
{
    char *text = NULL;
    int result;

    if (!*path)
        return 0;
    if (regular_file_read(path, GOLDEN_MAX, &text, err) != 0)
        return -1;
    result = golden_parse(text, path, &comparison->golden, err);
    free(text);
    return result;
}

/* ---------------------------------------------------------------- what Slurm says of a node */

/* Returns the set of nodes of each partition; NULL if memory is out. */
static struct name_index *partition_sets(const struct cluster *cluster)
{
    struct name_index *sets = calloc(cluster->partition_count + 1, sizeof *sets);

    for (size_t i = 0; sets && i < cluster->partition_count; i++)
        hostlist_index(&cluster->partitions[i].nodes, &sets[i]);
    return sets;
}

static char *class_text(const struct cluster *cluster, const struct cluster_node *node, unsigned by,
                        const struct name_index *sets)
{
    char *text = NULL;
    size_t size;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return NULL;
    if (by & COMPARE_GRES)
        fputs(node->gres, stream);
    if (by & COMPARE_FEATURES && *node->features)
        fprintf(stream, "%s%s", ftell(stream) > 0 ? " " : "", node->features);
    for (size_t i = 0; by & COMPARE_PARTITIONS && i < cluster->partition_count; i++)
        if (name_index_has(&sets[i], node->name))
            fprintf(stream, "%s%s", ftell(stream) > 0 ? " " : "", cluster->partitions[i].name);
    fclose(stream);
    return text;
}

/* Makes the class of each node of the cluster; the caller frees *classes and the texts. Returns 0,
 * or -1 if memory is out. */
static int classes_make(const struct cluster *cluster, unsigned by, struct node_class **classes)
{
    struct name_index *sets = partition_sets(cluster);
    int result = 0;

    *classes = calloc(cluster->node_count + 1, sizeof **classes);
    for (size_t i = 0; sets && *classes && i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];

        (*classes)[i] = (struct node_class){node->name, class_text(cluster, node, by, sets)};
        if (!(*classes)[i].text)
            result = -1;
    }
    if (!sets || !*classes)
        result = -1;
    for (size_t i = 0; sets && i < cluster->partition_count; i++)
        name_index_clear(&sets[i]);
    free(sets);
    return result;
}

/* ---------------------------------------------------------------- the comparison */

static int facts_take(struct comparison *comparison, const struct records *records, size_t first,
                      bool (*is_wanted)(const void *context, const char *node), const void *context)
{
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (!catalog_is_test(record->test, TEST_HOST_CONFIG) || record->verdict != VERDICT_NONE ||
            !record->node || !record->metric || !record->message || !*record->message ||
            (is_wanted && !is_wanted(context, record->node)))
            continue;
        if (!GROW(comparison->facts, comparison->fact_count))
            return -1;
        comparison->facts[comparison->fact_count++] =
            (struct fact){.node = record->node,
                          .name = record->metric,
                          .part = record->part ? record->part : "",
                          .value = record->message};
    }
    return 0;
}

/* Returns whether the deviation is a fact of slurm.conf that a dynamic node does not have: it
 * registered its GPUs with the controller. */
static bool is_of_dynamic(const struct deviation *deviation, const struct cluster *cluster)
{
    const struct cluster_node *node = cluster && deviation->node && !deviation->value &&
                                              catalog_is_metric(deviation->name, METRIC_GRES_COUNT)
                                          ? cluster_node(cluster, deviation->node)
                                          : NULL;

    return node && node->is_dynamic;
}

int comparison_make(struct comparison *comparison, const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    const struct cluster *cluster, unsigned by, struct error *err)
{
    size_t class_count = by ? cluster->node_count : 0;
    struct node_class *classes = NULL;
    int found = -1;

    if ((by == 0 || classes_make(cluster, by, &classes) == 0) &&
        facts_take(comparison, records, first, is_wanted, context) == 0 &&
        fact_table_make(comparison->facts, comparison->fact_count, &comparison->table) == 0 &&
        groups_make(&comparison->table, classes, class_count, &comparison->groups) == 0)
        found = majority_compare(&comparison->table, &comparison->groups,
                                 comparison->golden.count ? &comparison->golden : NULL,
                                 &comparison->deviations);
    for (size_t i = 0; classes && i < class_count; i++)
        free((char *)(size_t)classes[i].text);
    free(classes);
    if (found < 0)
        return error_set(err, "no memory to compare the nodes");
    for (int i = 0; i < found; i++)
        if (!is_of_dynamic(&comparison->deviations[i], cluster))
            comparison->deviations[comparison->count++] = comparison->deviations[i];
    return 0;
}

int comparison_incomplete(const struct records *records, size_t first, const struct hostlist *names,
                          struct hostlist *incomplete)
{
    struct hostlist complete = {0};
    int status = 0;

    for (size_t i = first; i < records->count && status == 0; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (record->node && record->metric && catalog_is_metric(record->metric, METRIC_MUSTER))
            status = hostlist_append(&complete, record->node);
    }
    if (status == 0)
        status = hostlist_split(names, &complete, NULL, incomplete);
    hostlist_clear(&complete);
    return status;
}

int identities_take(const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    struct identity **identities, size_t *count, size_t *nodes)
{
    struct hostlist reporters = {0};
    struct name_index set;
    int result = 0;

    *identities = NULL;
    *count = *nodes = 0;
    for (size_t i = first; i < records->count && result == 0; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (!catalog_is_test(record->test, TEST_NET_ADDRESSES) || record->verdict != VERDICT_NONE ||
            !record->node || !record->metric || !record->part || !record->message ||
            (is_wanted && !is_wanted(context, record->node)))
            continue;
        if (!GROW(*identities, *count) || hostlist_append(&reporters, record->node) != 0) {
            result = -1;
            continue;
        }
        (*identities)[(*count)++] =
            (struct identity){record->node, record->metric, record->part, record->message};
    }
    if (result == 0)
        result = hostlist_index(&reporters, &set);
    if (result == 0) {
        *nodes = set.count;
        name_index_clear(&set);
    }
    hostlist_clear(&reporters);
    return result;
}

void comparison_clear(struct comparison *comparison)
{
    golden_clear(&comparison->golden);
    free(comparison->deviations);
    groups_clear(&comparison->groups);
    fact_table_clear(&comparison->table);
    free(comparison->facts);
    *comparison = (struct comparison){0};
}

int comparison_save(const struct comparison *comparison, const char *path, struct error *err)
{
    struct atomic_file file;
    char comment[128], date[32];

    text_time(date, sizeof date, "%Y-%m-%d", time(NULL));
    snprintf(comment, sizeof comment, "%s: what most of %zu nodes are, %s", PACKAGE_STRING,
             comparison->table.node_count, date);
    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    return golden_write(file.stream, comment, &comparison->table, &comparison->groups) == 0
               ? atomic_file_commit(&file, err)
               : atomic_file_discard(&file, err);
}
