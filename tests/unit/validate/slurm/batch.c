/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/batch.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "tests/unit/tap.h"

/* Tests how many requests a change of many nodes needs, and which nodes fail when a request is
 * refused. */

enum { NODES = 4096 };

static int requests, refusals;
static char requests_text[400], failed[400];
static const char *refused_node; /* NULL: none; "": all nodes */

static int change_nodes(const char *nodes, const char *text, struct error *err)
{
    struct hostlist names;

    requests++;
    if (strlen(requests_text) + strlen(nodes) + strlen(text) + 3 < sizeof requests_text)
        text_join(requests_text, sizeof requests_text, "", "%s=%s;", nodes, text);
    if (hostlist_expand(nodes, &names, err) != 0)
        return -1;
    if (refused_node && (!*refused_node || hostlist_contains(&names, refused_node))) {
        refusals++;
        error_set(err, "refused");
    } else {
        err->text[0] = '\0';
    }
    hostlist_clear(&names);
    return *err->text ? -1 : 0;
}

struct outcomes {
    int changed, failed;
    size_t next;
    char names[NODES][8];
};

static void count_outcome(const char *name, const char *text, const struct error *err,
                          void *context)
{
    struct outcomes *outcomes = context;

    outcomes->changed += !err;
    outcomes->failed += err != NULL;
    if (err && outcomes->failed == 1)
        snprintf(failed, sizeof failed, "%s: %s", name, err->text);
    if (outcomes->next < NODES)
        snprintf(outcomes->names[outcomes->next++], sizeof outcomes->names[0], "%s", name);
}

static struct outcomes outcomes;

static int apply_batch(int nodes, int texts, const char *refused, struct error *err)
{
    struct batch batch = {0};

    requests = refusals = 0;
    requests_text[0] = failed[0] = '\0';
    refused_node = refused;
    memset(&outcomes, 0, sizeof outcomes);
    for (int i = 0; i < nodes; i++) {
        char name[16], text[16];

        snprintf(name, sizeof name, "n%d", i + 1);
        snprintf(text, sizeof text, "%c", 'a' + i % texts);
        batch_add(&batch, name, text);
    }
    return batch_apply(&batch, change_nodes, count_outcome, &outcomes, err);
}

int main(void)
{
    struct batch none = {0};
    struct error err = {""};

    is_int(batch_apply(&none, change_nodes, count_outcome, &outcomes, &err), 0, "an empty batch");
    is_int(requests, 0, "... makes no request");
    is_int(apply_batch(6, 2, NULL, &err), 0, "two texts for six nodes");
    is_str(requests_text, "n[1,3,5]=a;n[2,4,6]=b;", "... are two requests");
    is_str(outcomes.names[1], "n2", "... reported in the order of the nodes");
    apply_batch(4, 1, NULL, &err);
    is_int(requests, 1, "one text for 4 nodes is one request");
    is_int(apply_batch(NODES, 1, NULL, &err), 0, "the same text for %d nodes", NODES);
    is_int(requests, 1, "... is one request");
    is_int(outcomes.changed, NODES, "... and each node is reported");

    is_int(apply_batch(NODES, 1, "n1000", &err), -1, "one of the nodes cannot be changed");
    is_str(err.text, "refused", "... which is an error");
    is_int(outcomes.changed, NODES - 1, "... the others are changed");
    is_str(failed, "n1000: refused", "... and only this one fails");
    ok(requests <= 2 * 12 + 1, "... after %d requests", requests);
    is_int(apply_batch(NODES, 3, "", &err), -1, "no node can be changed");
    is_int(outcomes.failed, NODES, "... each node fails");
    is_int(requests, BATCH_FAILURES, "... and the number of requests is limited");
    return tap_done();
}
