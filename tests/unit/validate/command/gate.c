/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/health.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/certificate/brake.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "validate/slurm/cluster.h"

/* All nodes of a large cluster lose their certificates at once: which of them may refuse jobs, and
 * what their health checks ask of the controller. */

enum { NODES = 1500, LIMIT = 3 };

static char names[NODES][8], extras[NODES][64], none[] = "";
static struct cluster_node nodes[NODES];
static struct brake brakes[NODES];
static bool has_brake[NODES];
static int tables, singles;

static size_t index_of(const char *name)
{
    return (size_t)atoi(name + 1);
}

static size_t own; /* whose health check it is */

static int nodes_take(struct cluster *cluster, size_t first, size_t count, struct error *err)
{
    *cluster = (struct cluster){.nodes = nodes + first, .node_count = count};
    return cluster_index(cluster, err);
}

int cluster_open(struct error *err)
{
    (void)err;
    return 0;
}

int cluster_load_node(const char *name, struct cluster *cluster, struct error *err)
{
    singles++;
    return nodes_take(cluster, index_of(name), 1, err);
}

int cluster_load_nodes(struct cluster *cluster, struct error *err)
{
    tables++;
    return nodes_take(cluster, 0, NODES, err);
}

int cluster_load_partitions(struct cluster *cluster, struct error *err)
{
    static struct cluster_partition partition;
    static char *list[NODES];

    (void)err;
    for (size_t i = 0; i < NODES; i++)
        list[i] = names[i];
    partition.nodes = (struct hostlist){list, NODES};
    *cluster = (struct cluster){.partitions = &partition, .partition_count = 1};
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
    free(cluster->by_name);
    *cluster = (struct cluster){0};
}

int cluster_set_extra(const char *name, const char *extra, struct error *err)
{
    (void)err;
    snprintf(extras[index_of(name)], sizeof extras[0], "%s", extra);
    return 0;
}

int cluster_drain(const char *name, const char *reason, struct error *err)
{
    (void)name, (void)reason, (void)err;
    return 0;
}

uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void)
{
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags)
{
    static unsigned char next;

    (void)flags;
    memset(bytes, next++, size);
    return (ssize_t)size;
}

char *__wrap_fingerprint_node(const struct inventory *inventory, const struct conf *conf);
char *__wrap_fingerprint_node(const struct inventory *inventory, const struct conf *conf)
{
    (void)inventory, (void)conf;
    return strdup("kernel: 1\n");
}

int __wrap_brake_read(const char *path, struct brake *brake, struct error *err);
int __wrap_brake_read(const char *path, struct brake *brake, struct error *err)
{
    (void)path, (void)err;
    *brake = brakes[own];
    return has_brake[own] ? 0 : 1;
}

int __wrap_brake_write(const char *path, const struct brake *brake, struct error *err);
int __wrap_brake_write(const char *path, const struct brake *brake, struct error *err)
{
    (void)path, (void)err;
    brakes[own] = *brake;
    has_brake[own] = true;
    return 0;
}

/* The health checks of all nodes, in an order of their own. Returns how many may refuse jobs. */
static int checked(const struct conf *conf)
{
    int allowed = 0;

    tables = singles = 0;
    for (size_t i = 0; i < NODES; i++) {
        own = i * 7 % NODES;
        health_gate(names[own], NULL, conf);
    }
    for (size_t i = 0; i < NODES; i++)
        allowed += has_brake[i] && brakes[i].leave == BRAKE_LEAVE;
    return allowed;
}

int main(void)
{
    struct conf conf = {.gate_brake = LIMIT,
                        .drain_cap_percent = 25,
                        .on_missing = POLICY_REFUSE,
                        .certificate_path = "/nonexistent/muster/certificate"};
    int kept = dup(1), quiet = open("/dev/null", O_WRONLY | O_CLOEXEC), allowed;

    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        nodes[i] = (struct cluster_node){
            .name = names[i], .reason = none, .extra = extras[i], .comment = none, .leaf = -1};
    }
    fflush(stdout);
    dup2(quiet, 1);
    allowed = checked(&conf);
    fflush(stdout);
    dup2(kept, 1);
    ok(allowed > 0 && allowed <= LIMIT,
       "of 1500 nodes without a certificate three at most may refuse jobs");
    ok(tables >= allowed && tables < 2 * NODES / HEALTH_SAMPLE_NODES,
       "... after %d readings of all nodes", tables);
    ok(singles < 8 * NODES, "... and %d of one", singles);

    dup2(quiet, 1);
    allowed = checked(&conf);
    fflush(stdout);
    dup2(kept, 1);
    is_int(allowed, 0, "at the next check none may: more than three would");
    ok(tables == 0, "... by %d readings of all nodes", tables);
    ok(singles <= 5 * NODES, "... and %d of one", singles);
    dup2(quiet, 1);
    allowed = checked(&conf);
    fflush(stdout);
    dup2(kept, 1);
    is_int(singles, NODES, "... then each looks at itself alone for half an hour");

    brakes[5].leave = BRAKE_LIFTED;
    own = 5;
    tables = singles = 0;
    health_gate(names[5], NULL, &conf);
    is_int(singles + tables, 1, "a node whose brake was lifted by hand looks at no other");
    ok(brakes[5].leave == BRAKE_LIFTED, "... and stays so");
    return tap_done();
}
