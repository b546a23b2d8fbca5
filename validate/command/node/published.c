/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node/published.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/splitmix.h"
#include "lib/constants/checks_constants.h"
#include "validate/slurm/extra.h"

int published_load(const char *name, struct cluster *cluster, struct error *err)
{
    static struct error silence;
    double begin_s = clock_s();

    *err = silence;
    if (!*err->text && cluster_open(err) == 0 && cluster_load_node(name, cluster, err) == 0)
        return 0;
    if (clock_s() - begin_s > HEALTH_ANSWER_S)
        silence = *err;
    return -1;
}

int published_put(const struct cluster_node *node, const char *key, const char *note,
                  struct error *err)
{
    char *is = extra_read_note(node->extra, key), *text = NULL;
    int rv = 0;

    if (is ? !note || strcmp(is, note) != 0 : note != NULL) {
        text = extra_set_note(node->extra, key, note, err);
        rv = text ? cluster_set_extra(node->name, text, err) : -1;
    }
    free(is);
    free(text);
    return rv;
}

static const struct hostlist *peers_of(const struct cluster *cluster, const char *name)
{
    const struct hostlist *peers = NULL;

    for (size_t i = 0; i < cluster->partition_count; i++) {
        const struct hostlist *nodes = &cluster->partitions[i].nodes;

        if ((!peers || nodes->count > peers->count) && hostlist_contains(nodes, name))
            peers = nodes;
    }
    return peers;
}

/* Returns 1 if the node matches, 0, or -1 if it cannot be read. */
static int match_one(const char *name, published_match *is_match, const void *context)
{
    struct cluster cluster;
    const struct cluster_node *node;
    struct error err;
    int rv;

    if (cluster_load_node(name, &cluster, &err) != 0)
        return -1;
    node = cluster_node(&cluster, name);
    rv = node && is_match(node, context);
    cluster_clear(&cluster);
    return rv;
}

/* Samples names with equal probability, none twice. Returns 0 if slurmctld is slow or a node cannot
 * be read: then the caller reads all nodes in one request. */
static int sample(const char *own, const struct hostlist *peers, size_t wanted,
                  published_match *is_match, const void *context)
{
    double end_s = clock_s() + HEALTH_SAMPLE_S;
    uint64_t state = (uint64_t)time(NULL);
    size_t found = 0;

    (void)!getrandom(&state, sizeof state, GRND_NONBLOCK);
    for (size_t i = 0; found < wanted && i < HEALTH_SAMPLE_NODES && clock_s() < end_s; i++) {
        size_t place = i + splitmix_next(&state) % (peers->count - i);
        char *name = peers->names[place];
        int rv = strcmp(name, own) == 0 ? 0 : match_one(name, is_match, context);

        if (rv < 0)
            return 0;
        found += (size_t)rv;
        peers->names[place] = peers->names[i];
        peers->names[i] = name;
    }
    return found >= wanted;
}

int published_sample(const char *name, size_t wanted, published_match *is_match,
                     const void *context, size_t *nodes, struct error *err)
{
    struct cluster cluster;
    const struct hostlist *peers;
    int rv = 0;

    if (cluster_load_partitions(&cluster, err) != 0)
        return -1;
    peers = peers_of(&cluster, name);
    *nodes = peers ? peers->count : 0;
    if (*nodes > HEALTH_SAMPLE_FROM && wanted <= HEALTH_SAMPLE_NODES)
        rv = sample(name, peers, wanted, is_match, context);
    cluster_clear(&cluster);
    return rv;
}
