/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENVPLAN_PARTS_H
#define MUSTER_ENVPLAN_PARTS_H

#include "lib/envplan/envplan.h"
#include "lib/node/gpu/visible_gpus.h"

/* Inside of envplan: what its files share. */

/* Everything that a plan follows from. */
struct envplan_view {
    const struct envplan_node *node;
    const struct envplan_task *task;
    const struct visible_gpus *visible; /* may be NULL */
    envplan_getenv_fn *getenv_fn;
    void *context;
};

/* ---- text (envplan.c) */

/* Sets the fact. Returns -1, the answer of a rule that sets nothing. */
int envplan_fact(struct envplan_variable *variable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends to the fact, after "; ". Returns -1. */
int envplan_fact_add(struct envplan_variable *variable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends word, after separator unless it is the first. Returns 0, or -1 when it does not fit: text
 * is then as it was. */
int envplan_join(char *text, size_t size, const char *separator, const char *word);

/* ---- whose value it is (envplan_mark.c) */

/* The value that the user gave name; NULL when unset or an outer step's muster's. */
const char *envplan_users_value(const struct envplan_view *view, const char *name);

/* Adds the variable to a mark. Returns 0, or -1 when it does not fit. */
int envplan_mark_add(char *mark, size_t size, const struct envplan_variable *variable);

/* Calls visit with the name of each variable that an outer step's muster set and that still has
 * that value. Ends at the first answer but 0, which it returns. */
int envplan_mark_each(const struct envplan_view *view,
                      int (*visit)(const struct envplan_view *, const char *name, void *),
                      void *context);

/* ---- muster's own rules (envplan_rules.c) */

/* Writes value and fact. Returns 0, or -1 when there is nothing to set and fact says why. */
typedef int envplan_rule_fn(const struct envplan_view *view, struct envplan_variable *variable);

struct envplan_rule {
    const char *variable;
    const char *name;
    int scope;             /* 1 << enum envplan_launcher each */
    int classes;           /* 1 << enum fabric_class each: those it is for */
    const char *yields_to; /* left alone as well when one of these is chosen by the user or the
                              site: "A B", or NULL */
    envplan_rule_fn *choose;
};

extern const struct envplan_rule envplan_rules[];
extern const size_t envplan_rule_count;

/* ---- which of the node's rails (envplan_rails.c) */

/* The rails of this task's data that are up: those nearest to its GPUs, those of its socket where
 * it has none, or all. rails has INVENTORY_NICS places. *is_nearest: false for all. why (256
 * bytes): the GPUs or the socket, or why it is all. Returns how many. */
size_t envplan_task_rails(const struct envplan_view *view, size_t *rails, bool *is_nearest,
                          char *why, size_t why_size);

/* The interfaces of these rails that sockets can use, at most max, each once. Returns how many. */
size_t envplan_sockets(const struct envplan_view *view, const size_t *rails, size_t rail_count,
                       const struct nic **nics, size_t max);

/* "eth1 eth2 up, eth3 down, Ethernet; management is eth0" */
void envplan_rails_fact(const struct envplan_view *view, struct envplan_variable *variable);

/* ---- the site's lines (envplan_site.c) */

/* Whether a line that sets or extends the variable holds for the task. */
bool envplan_site_chooses(const struct envplan_view *view, const char *name);

/* Applies the lines for this variable, in their order, to what muster's rule made of it. */
void envplan_site_apply(const struct envplan_view *view, struct envplan_variable *variable);

#endif
