/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_H
#define MUSTER_LOCALIZATION_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/localization/findings/findings.h"
#include "validate/localization/links.h"
#include "validate/localization/losses/losses.h"

/* Localizes faults on the links of nodes: diagnoses what was measured, and measures the most
 * informative pairs again, alone on the network, until nothing more can be learned. */

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
    int tries;    /* retests at most */
    /* Measures the pairs "n1:n2+n3:n4,n1:n3": those joined by a plus at the same time, those
     * separated by a comma one after the other. names: the nodes of the pairs. Returns whether that
     * succeeded, with *first the index of its first record in the source. */
    bool (*measure)(void *context, const struct hostlist *names, const char *pairs,
                    enum retest_passes passes, size_t *first);
    /* Whether that node cannot be measured any more. NULL: all can. */
    bool (*is_lost)(void *context, const char *node);
    /* Sets *history to what earlier runs found of that rail of the node, or leaves it as it is,
     * count 0. NULL: there is no history. */
    void (*get_history)(void *context, const char *node, const char *rail,
                        struct history_figure *history);
    /* Sets *reference to the minimum that others expect of that rail of the node, or leaves it as
     * it is. reference->source lives as long as the localization. NULL: there is no table. */
    void (*get_reference)(void *context, const char *node, const char *rail,
                          struct reference_figure *reference);
    void *context;

    /* the outcome: findings are about links, losses about packets */
    struct links links;
    struct findings findings;
    struct losses losses;
    size_t retests; /* the first record of suspects measured alone; SIZE_MAX: there is none */
};

/* Returns how many times all pairs are measured at first, in separate rounds: with few nodes an
 * intermittent rail is met by chance (doc/attribution.md has the shares). */
int localization_times(size_t nodes, bool is_quick);

/* How suspects are measured again: each pair `times` times, in separate rounds, at first with
 * `samples` samples that are as long as those of level quick, or of the level of the run. Few nodes
 * get short measurements in several rounds, which meet intermittent faults. More nodes get long
 * ones, which meet a time at which busy machines schedule both ends. */
struct retest_schedule {
    int times, samples;
    bool is_quick;
};
struct retest_schedule retest_schedule(size_t nodes);

/* Measures with localization->measure() the pairs that diagnose_next() chooses, each once: at most
 * `most` pairs, at most screen_most of them for the screen, and a control pair. A few are measured
 * one after the other, more in rounds in which they do not disturb each other. If nodes are lost
 * meanwhile it chooses among the others. before: the previous diagnosis, NULL the first time.
 * Returns whether there were any pairs and that succeeded, with *first its first record. */
bool localization_measure_next(const struct localization *localization,
                               const struct diagnose_network *network,
                               const struct diagnosis *diagnosis, const struct diagnosis *before,
                               size_t most, size_t screen_most, enum retest_passes passes,
                               size_t *first);

/* Measures suspects again with localization->measure(), each with two partners that nobody
 * suspects, if there are any, and by turns with a control pair of others. is_suspect: [nodes of the
 * localization]. Returns whether there were any suspects and that succeeded, with *first its first
 * record. */
bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first);

/* Localizes the faults. What could not be measured again becomes UNKNOWN. Returns 0, or -1 if
 * memory is out. Call localization_clear() in both cases. */
int localization_run(struct localization *localization);
void localization_clear(struct localization *localization);

/* Returns the finding as a record. Its strings belong to the localization. */
struct record localization_record(const struct localization *localization,
                                  const struct finding *finding);

/* Writes a message that fits a drain reason: "eth1 98 of 940 Mb/s". */
void localization_short_message(const struct finding *finding, char *text, size_t size);

/* Is called for each verdict about a node. The record is valid during the call only. */
typedef void localization_report_fn(void *context, const char *node, enum verdict verdict,
                                    const struct record *record);

/* Reports the verdicts of muster-links itself among the records since first: whether a rail is
 * there, and whether it carried what was sent, undamaged. A fall-back to another transport is a
 * fault of its own and not a slow NIC. Damaged data, and messages of libibverbs that did not
 * arrive, count against the end that has more of them; if both have as many it may be either. A
 * message that did not arrive fails a node only if a retest, by turns with a control pair, agrees;
 * damage only if some of it is with a node of its own leaf switch. The localization has been run;
 * records may be added to its source. */
void localization_self_reports(const struct localization *localization,
                               localization_report_fn *report, void *context);

#endif
