/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/extras.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/slurm/batch.h"
#include "validate/slurm/extra.h"

/* Adds the node's new Extra, if it differs from the present one. Frees text, which may be NULL. */
static void text_add(struct batch *batch, const struct cluster_node *node, char *text)
{
    if (text && strcmp(text, node->extra) != 0)
        batch_add(batch, node->name, text); /* out of memory: the next run does it */
    free(text);
}

/* Returns text without the note of the key. Owns text; the caller frees the result. */
static char *without(char *text, const char *key, struct error *err)
{
    char *note = text ? extra_read_note(text, key) : NULL, *made;

    if (!note)
        return text;
    made = extra_set_note(text, key, NULL, err);
    free(note);
    free(text);
    return made;
}

/* Returns the node's new Extra, malloc'd; NULL to leave it alone. extra: the present one. */
static char *text_wanted(struct certify *certify, const struct node_run *node_run,
                         const char *extra, bool offers, bool is_again)
{
    struct error err = {""};
    char *text = NULL, *own;

    if (*node_run->certified_until) {
        text = own = strdup(extra);
        if (!is_again) /* what its health check published ends with its certificate */
            text = own = without(without(own, EXTRA_GATE, &err), EXTRA_FAULT, &err);
        if (own && offers) {
            text = extra_set_level(own, node_run->certified_level,
                                   (long long)node_run->certified_until_s, &err);
            free(own);
        }
        if (!text && !is_again)
            certify_note(certify, "%s: %s", node_run->name, err.text);
    } else if (offers && certify_loses_certificate(node_run) && *extra &&
               !extra_is_expired(extra, (long long)time(NULL))) {
        text = extra_set_level(extra, 0, 0, &err);
    }
    return text;
}

/* Returns whether another run has the node, and may write its Extra now. */
static bool is_others(const struct node_run *node_run, const struct cluster_node *node)
{
    return node->is_in_run && (!node_run || node_run->plan.role == ROLE_SKIP);
}

/* Adds the Extras that show an expired certificate, to remove it: Slurm does not know when a
 * certificate ends. This includes nodes that are not in this run. */
static void expired_add(const struct certify *certify, const struct cluster *cluster,
                        struct batch *batch)
{
    long long now = (long long)time(NULL);
    struct error err;

    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        const struct node_run *node_run = certify_node_run(certify, node->name);

        if ((!node_run || !*node_run->certified_until) && !is_others(node_run, node) &&
            extra_is_expired(node->extra, now))
            text_add(batch, node, extra_set_level(node->extra, 0, 0, &err));
    }
}

static void written(const char *name, const char *text, const struct error *err, void *context)
{
    (void)name;
    (void)text;
    if (err)
        certify_note(context, "%s", err->text);
}

void certify_extras(struct certify *certify, bool is_again)
{
    bool offers = certify->cluster.has_extra && certify->conf.write_extra;
    struct cluster now = {0};
    struct batch batch = {0};
    struct error err;

    if (certify->options.is_dry_run || (is_again && !offers))
        return;
    /* other runs, and the site, have changed Extras since they were read */
    if (certify->operations->load_nodes(&now, &err) != 0 && !is_again)
        certify_note(certify, "Extra of the nodes left unchanged: %s", err.text);
    if (offers)
        expired_add(certify, &now, &batch);
    for (size_t i = 0; i < certify->count; i++) {
        const struct cluster_node *node = cluster_node(&now, certify->node_runs[i].name);

        if (node)
            text_add(&batch, node,
                     text_wanted(certify, &certify->node_runs[i], node->extra, offers, is_again));
    }
    batch_apply(&batch, certify->operations->set_extra, written, certify, &err);
    cluster_clear(&now);
}
