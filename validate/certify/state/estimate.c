/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/estimate.h"

#include <stdlib.h>
#include <string.h>

#include "validate/judge/links/trial/trial.h"

/* How long the stages of this run take, by what is known of its nodes. */

enum { RAILS_GUESSED = 2 };

/* The most rails that a node has told of; before the check those of the configuration. */
static int rail_count(const struct certify *certify)
{
    int *rails = calloc(certify->count + 1, sizeof *rails);
    int most = 0;

    for (size_t i = 0; rails && i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        const struct subject *subject;

        if (!record->node || !catalog_is_metric(record->metric, METRIC_SPEED) ||
            !catalog_is_test(record->test, TEST_HOST_CONFIG))
            continue;
        subject = certify_subject(certify, record->node);
        if (subject && ++rails[subject - certify->subjects] > most)
            most = rails[subject - certify->subjects];
    }
    free(rails);
    if (most == 0)
        most = (int)certify->conf.fabric_interfaces.count;
    return most > 0 ? most : RAILS_GUESSED;
}

int certify_link_times(const struct certify *certify, size_t nodes)
{
    return certify->conf.link_times > 0 ? certify->conf.link_times
                                        : trial_times(nodes, certify->options.level == LEVEL_QUICK);
}

/* The machines of the nodes that are good, by what their checks told. Returns how many. */
static size_t machines_read(const struct certify *certify, struct budget_machine *machines)
{
    size_t count = 0;

    for (size_t i = 0; i < certify->count; i++)
        machines[i] = (struct budget_machine){"", 0};
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        const struct subject *subject;

        if (!record->node || !record->metric || record->verdict != VERDICT_NONE)
            continue;
        subject = certify_subject(certify, record->node);
        if (!subject)
            continue;
        if (catalog_is_test(record->test, TEST_NET_ADDRESSES) &&
            catalog_is_metric(record->metric, METRIC_BOOT) && record->message)
            machines[subject - certify->subjects].boot_id = record->message;
        if (catalog_is_test(record->test, TEST_HOST_CONFIG) &&
            catalog_is_metric(record->metric, METRIC_CPU_COUNT))
            machines[subject - certify->subjects].processors = (int)record->value;
    }
    for (size_t i = 0; i < certify->count; i++)
        if (outcome_is_good(&certify->subjects[i].outcome))
            machines[count++] = machines[i];
    return count;
}

struct budget_work certify_work(const struct certify *certify, size_t nodes)
{
    struct budget_machine *machines = calloc(certify->count + 1, sizeof *machines);
    struct budget_work work =
        budget_work_make(certify->options.level, nodes, rail_count(certify),
                         certify->conf.concurrency, certify_link_times(certify, nodes));

    if (machines)
        budget_share(&work, machines, machines_read(certify, machines));
    free(machines);
    return work;
}

double certify_limit_s(const struct certify *certify, enum stage stage, size_t nodes)
{
    struct budget_work work = certify_work(certify, nodes);

    return budget_limit_s(&work, stage, certify->budget_s);
}

double certify_battery_s(const struct certify *certify, size_t nodes)
{
    struct budget_work work = certify_work(certify, nodes);
    double sum_s = 0;

    if (certify->budget_s > 0)
        return 3 * certify->budget_s;
    for (int stage = STAGE_LAUNCH; stage <= STAGE_TRAIN; stage++)
        sum_s += budget_limit_s(&work, (enum stage)stage, 0);
    return sum_s + budget_limit_s(&work, STAGE_LINKS, 0); /* suspects are measured again */
}

void certify_estimate_say(struct certify *certify)
{
    struct hostlist names;
    size_t nodes = certify_good(certify, &names);
    struct budget_work work = certify_work(certify, nodes);
    double train_s = budget_estimate_s(&work, STAGE_TRAIN);
    char train[48] = "";

    if (train_s > 0)
        snprintf(train, sizeof train, ", train %.0f s", train_s);
    if (nodes > 1)
        progress_print(
            &certify->progress,
            "%zu nodes, %d rail%s: launch about %.0f s, links about %.0f s for %d rounds, "
            "collectives about %.0f s%s",
            nodes, work.rails, work.rails == 1 ? "" : "s", budget_estimate_s(&work, STAGE_LAUNCH),
            budget_estimate_s(&work, STAGE_LINKS), work.rounds,
            budget_estimate_s(&work, STAGE_COLLECTIVES), train);
    hostlist_clear(&names);
}
