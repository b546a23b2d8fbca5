/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_H
#define MUSTER_LOCALIZATION_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/localization/findings/findings.h"
#include "validate/localization/links.h"

/* Fault localization on the links of some nodes: what was measured is diagnosed, and the pairs that
 * tell most are measured again, alone on the network, until nothing more can be told. */

/* What is measured of a pair. */
enum retest_passes {
    PASSES_PAIRS,    /* each rail by itself */
    PASSES_TOGETHER, /* and all rails at once */
    PASSES_VERBS,    /* RDMA ports by libibverbs, and nothing else */
};

struct localization {
    /* the caller's */
    struct links_source source;
    size_t first; /* the first record of the measurement */
    int tries;    /* measurements of suspects at most */
    /* Measures the pairs "n1:n2+n3:n4,n1:n3", which are those of names: those that a plus joins at
     * once, a comma's one after the other. Returns whether that ended well, with *first the index
     * of its first record in the source. */
    bool (*measure)(void *context, const struct hostlist *names, const char *pairs,
                    enum retest_passes passes, size_t *first);
    /* Whether that node cannot be measured any more. NULL: all can. */
    bool (*is_lost)(void *context, const char *node);
    /* What earlier runs found of that rail of that node; left as it is, count 0, when nothing.
     * NULL: there is no history. */
    void (*recall)(void *context, const char *node, const char *rail,
                   struct history_figure *history);
    /* What others take for the least of that rail of that node; left as it is when nobody says.
     * Its source lives as long as the localization. NULL: there is no table. */
    void (*refer)(void *context, const char *node, const char *rail,
                  struct reference_figure *reference);
    void *context;

    /* the outcome: links is what findings is about */
    struct links links;
    struct findings findings;
    size_t retests; /* the first record of suspects measured alone; SIZE_MAX: there is none */
};

/* How often all pairs are measured first, in separate rounds: with few nodes an intermittent rail
 * is met by chance (doc/attribution.md has what that finds). */
int localization_times(size_t nodes, bool is_quick);

/* How suspects are measured again: each pair `times` times, in separate rounds, with `samples`
 * samples at first, as long as those of level quick or of the run's own level. Few nodes get short
 * measurements in several rounds, which meet intermittent faults; more nodes get long ones, which
 * meet a time at which busy machines let both ends run. */
struct retest_schedule {
    int times, samples;
    bool is_quick;
};
struct retest_schedule retest_schedule(size_t nodes);

/* Measures what tells most of the diagnosis by localization.measure(), of at most `most` pairs, and
 * at most screen_most for the screen (diagnose_next()), each once: a few one after the other, more
 * in rounds in which they do not disturb each other. Where nodes are lost meanwhile it chooses
 * among the others. before: the diagnosis before, NULL the first time. Returns whether there was
 * any and that ended well, with *first its first record. */
bool localization_measure_next(const struct localization *localization,
                               const struct diagnose_network *network,
                               const struct diagnosis *diagnosis, const struct diagnosis *before,
                               size_t most, size_t screen_most, enum retest_passes passes,
                               size_t *first);

/* Measures those suspects once more by localization.measure(), each with two partners that nobody
 * suspects, where there are, and by turns a control pair of others: is_suspect has one for each of
 * the localization's nodes. Returns whether there are any and that ended well. */
bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first);

/* Localizes the faults. What could not be measured again comes out as unknown. Returns 0, or -1
 * when memory is out. To be cleared in either case. */
int localization_run(struct localization *localization);
void localization_clear(struct localization *localization);

/* The finding as a record: its strings are the localization's. */
struct record localization_record(const struct localization *localization,
                                  const struct finding *finding);

/* "eth1 98 of 940 Mb/s": what a reason of a drain has room for. */
void localization_short_message(const struct finding *finding, char *text, size_t size);

/* What muster-links judges itself among the records since first: whether a rail is there, whether
 * it carried what was sent, whole. A fall-back to another way is a fault of its own and not a slow
 * NIC. Damaged data, and messages of libibverbs that did not arrive, count against the end that has
 * more of them; with as much on both it could be either. What did not arrive is a node's failure
 * only where a retest, by turns with a control pair, agrees; damage only where some of it is with a
 * node of its own leaf switch. The localization is over; its records may become more. The record is
 * the caller's for the time of the call. */
void localization_self_reports(const struct localization *localization,
                               void (*report)(void *context, const char *node, enum verdict verdict,
                                              const struct record *record),
                               void *context);

#endif
