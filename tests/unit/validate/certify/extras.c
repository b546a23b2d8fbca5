/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/extras.h"

#include <string.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/certify/report/run_records.h"

/* A run changes the Extra field of its own nodes and of nodes that no run tests. */

enum { NODES = 3 };

static char expired_extra[] = "{\"muster_level\":2,\"muster_expires\":1000}";
static char names[NODES][3] = {"n1", "n2", "n3"};
static struct cluster_node nodes[NODES];
static struct node_run own_node_run;
static char changes[200];

static int load_nodes(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){.nodes = nodes, .node_count = NODES};
    return 0;
}

static int set_extra(const char *list, const char *extra, struct error *err)
{
    text_join(changes, sizeof changes, "", "%s=%s;", list, extra);
    return 0;
}

static const struct cluster_operations operations = {.load_nodes = load_nodes,
                                                     .set_extra = set_extra};

struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    return &nodes[0];
}

void cluster_clear(struct cluster *cluster)
{
    *cluster = (struct cluster){0};
}

struct node_run *certify_node_run(const struct certify *certify, const char *name)
{
    return strcmp(name, own_node_run.name) == 0 ? &own_node_run : NULL;
}

bool certify_loses_certificate(const struct node_run *node_run)
{
    return false;
}

void certify_note(struct certify *certify, const char *format, ...)
{
    tap_diag("%s", format);
}

int main(void)
{
    static struct certify certify = {.operations = &operations,
                                     .conf = {.write_extra = true},
                                     .cluster = {.has_extra = true},
                                     .node_runs = &own_node_run,
                                     .count = 1};

    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct cluster_node){.name = names[i], .extra = expired_extra};
    nodes[0].is_in_run = nodes[2].is_in_run = true;
    for (int i = 0; i < NODES; i++)
        nodes[i].is_reserved = true; /* n2 is reserved by the site, not by a run */
    own_node_run = (struct node_run){.name = "n1", .plan.role = ROLE_TEST};
    certify_extras(&certify, false);
    is_str(changes, "n[1-2]=;",
           "an expired Extra entry is removed, except from a node of another run");

    changes[0] = '\0';
    own_node_run.plan.role = ROLE_SKIP;
    certify_extras(&certify, false);
    is_str(changes, "n2=;", "... also from a node that this run was given and left out");
    return tap_done();
}
