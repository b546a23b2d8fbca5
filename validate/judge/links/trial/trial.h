/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_TRIAL_H
#define MUSTER_JUDGE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/judge/links/links.h"
#include "validate/judge/links/trial/matrix.h"

/* The links of some nodes on trial: what was measured is judged, and whoever is suspected is
 * measured once more, alone on the network, until what the last measurement says alone is what all
 * say together. A fault repeats itself; what other work takes away comes and goes. */

struct trial {
    /* the caller's */
    struct matrix_source source;
    size_t first;          /* the first record of the measurement */
    int tries;             /* measurements of suspects at most */
    double steady_percent; /* two measurements of a fault are as near as that, or 2 Mb/s */
    bool takes_missing;    /* a rail of which nothing was measured is no reason to measure again */
    /* Measures the pairs "n1:n2+n3:n4,n1:n3", which are those of names: those that a plus joins at
     * once, a comma's one after the other; is_together: and all rails of each at once. Returns
     * whether that ended well, with *first the index of its first record in the source. */
    bool (*measure)(void *context, const struct hostlist *names, const char *pairs,
                    bool is_together, size_t *first);
    /* What earlier runs found of that rail of that node; left as it is, count 0, when nothing.
     * NULL: there is no history. */
    void (*recall)(void *context, const char *node, const char *rail,
                   struct history_figure *history);
    /* What others take for the least of that rail of that node; left as it is when nobody says.
     * Its source lives as long as the trial. NULL: there is no table. */
    void (*refer)(void *context, const char *node, const char *rail,
                  struct reference_figure *reference);
    void *context;

    /* the outcome: links is the view that findings is about */
    struct matrix matrix;
    size_t gathered; /* records that are in it */
    size_t again;    /* the first record of suspects measured alone; SIZE_MAX: there is none */
    struct history_figure *history;
    struct reference_figure *references;
    double *figures; /* links_figures() */
    struct links links;
    struct finding *findings; /* worst first */
    size_t count;
    bool is_confirmed; /* the suspects, if any, were measured again and it is still them */
};

/* How often all pairs are to be measured first, at moments of their own: with few nodes a rail that
 * comes and goes is met by chance (doc/attribution.md has what that finds). */
int trial_times(size_t nodes, bool is_quick);

/* How suspects are measured again: each pair so often, at moments of their own, with so many
 * samples at first, as long as those of level quick or of the run's own level. Of few nodes short
 * measurements at several moments, which meet what comes and goes; of more one long one, which
 * meets a moment in which busy machines let the ends run. */
struct trial_look {
    int times, samples;
    bool is_quick;
};
struct trial_look trial_look(size_t nodes);

/* Measures those suspects once more, with control pairs, by trial.measure(). The nodes of findings
 * are the trial's. Returns whether that ended well. */
bool trial_measure(const struct trial *trial, const struct finding *findings, size_t finding_count,
                   size_t *first);

/* Holds the trial. What could not be confirmed comes out as unknown: it accuses nobody. A pair
 * whose one end is at fault is left out. Returns 0, or -1 when memory is out. To be cleared in
 * either case. */
int trial_hold(struct trial *trial);
void trial_clear(struct trial *trial);

/* Whether what was measured says which leaf switch a node is on. */
bool trial_shows_leaves(const struct trial *trial);

/* The finding as a record: its strings are the trial's. */
struct record trial_record(const struct trial *trial, const struct finding *finding);

/* "eth1 98 of 940 Mb/s": what a reason of a drain has room for. */
void trial_short_message(const struct finding *finding, char *text, size_t size);

/* What muster-links judges itself among the records since first: whether a rail is there, whether
 * it carried what was sent, whole. A fall-back to another way is a fault of its own and not a slow
 * NIC. Damaged data, and messages of libibverbs that did not arrive, accuse the end that has more
 * of them; with as much on both it could be either.
 */
void trial_testimony(const struct records *records, size_t first,
                     void (*accuse)(void *context, const char *node, enum verdict verdict,
                                    const struct record *record),
                     void *context);

#endif
