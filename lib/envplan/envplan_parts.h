/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENVPLAN_PARTS_H
#define MUSTER_ENVPLAN_PARTS_H

#include "lib/envplan/envplan.h"
#include "lib/node/gpu/visible_gpus.h"

/* Internal to envplan: declarations that its files share. */

/* All inputs of a plan. */
struct envplan_view {
    const struct envplan_node *node;
    const struct envplan_task *task;
    const struct visible_gpus *visible; /* may be NULL */
    envplan_getenv_fn *getenv_fn;
    void *context;
};

/* ---- text (envplan.c) */

/* Sets the fact and returns -1, the result of a rule that sets nothing. */
int envplan_fact(struct envplan_variable *variable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends to the fact, after "; ". Returns -1. */
int envplan_fact_add(struct envplan_variable *variable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends word, after separator unless it is the first. Returns 0, or -1 if it does not fit and
 * text is unchanged. */
int envplan_join(char *text, size_t size, const char *separator, const char *word);

/* ---- whose value it is (envplan_mark.c) */

/* Returns the value that the user gave name; NULL if it is unset or muster set it in an outer
 * step. */
const char *envplan_users_value(const struct envplan_view *view, const char *name);

/* Adds the variable to a mark, a value of MUSTER_SET. Returns 0, or -1 if it does not fit. */
int envplan_mark_add(char *mark, size_t size, const struct envplan_variable *variable);

/* Calls visit for each variable that muster set in an outer step and that still has that value.
 * Stops at the first result that is not 0 and returns it. */
int envplan_mark_each(const struct envplan_view *view,
                      int (*visit)(const struct envplan_view *, const char *name, void *),
                      void *context);

/* ---- muster's own rules (envplan_rules.c) */

/* Writes value and fact. Returns 0, or -1 when there is nothing to set and fact says why. */
typedef int envplan_rule_fn(const struct envplan_view *view, struct envplan_variable *variable);

struct envplan_rule {
    const char *variable;
    const char *name;
    int scope;             /* bits 1 << enum envplan_launcher: the tasks that get the variable */
    int classes;           /* bits 1 << enum fabric_class: the fabrics that the rule is for */
    const char *yields_to; /* "A B": the rule does not apply if the user or the site chose one of
                              these variables; or NULL */
    envplan_rule_fn *choose;
};

extern const struct envplan_rule envplan_rules[];
extern const size_t envplan_rule_count;

/* ---- which of the node's rails (envplan_rails.c) */

/* Sets rails to the indexes of the rails that are up. Returns their number. */
size_t envplan_up_rails(const struct envplan_view *view, size_t *rails);

/* Sets rails to the indexes of the rails for this task's data that are up: the rails nearest to its
 * GPUs, the rails of its socket if it has no GPU, or all. rails has room for INVENTORY_NICS.
 * *is_nearest is false for all rails. why: the GPUs or the socket, or why all rails are chosen.
 * Returns the number of rails. */
size_t envplan_task_rails(const struct envplan_view *view, size_t *rails, bool *is_nearest,
                          char *why, size_t why_size);

/* Sets nics to the interfaces of these rails that sockets can use, each once and at most max.
 * Returns the number of interfaces. */
size_t envplan_sockets(const struct envplan_view *view, const size_t *rails, size_t rail_count,
                       const struct nic **nics, size_t max);

/* Sets the fact to "eth1 eth2 up, eth3 down, Ethernet; management is eth0". */
void envplan_rails_fact(const struct envplan_view *view, struct envplan_variable *variable);

/* ---- the site's lines (envplan_site.c) */

/* Returns whether a line that sets or extends the variable applies to the task. */
bool envplan_site_chooses(const struct envplan_view *view, const char *name);

/* Applies the lines for this variable, in their order, to the result of muster's rule. */
void envplan_site_apply(const struct envplan_view *view, struct envplan_variable *variable);

#endif
