/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/inconsistent.h"

#include <stdlib.h>

#include "lib/constants/links_constants.h"

struct account {
    int transfers, contradicted, partners, last_partner;
    bool is_inconsistent;
};

/* Whether the ends contradict each other. The receiver's time of a transfer lies within the
 * sender's, which ends when the receiver has confirmed that all is there. So the sender's figure
 * cannot honestly be the higher one by more than the first message makes, a sixteenth at most. It
 * may be lower by any amount: an end that was not scheduled makes the sender's figure low. */
static bool is_contradicted(const struct diagnose_sample *sample)
{
    return sample->received > 0 && sample->rate > 0 &&
           sample->received < REPORTS_ALIKE_SHARE * sample->rate;
}

static void count_accounts(const struct diagnose_network *network,
                           const struct diagnose_sample *samples, size_t count,
                           struct account *accounts)
{
    for (size_t i = 0; i < network->node_count; i++)
        accounts[i] =
            (struct account){.last_partner = -1, .is_inconsistent = accounts[i].is_inconsistent};
    for (size_t i = 0; i < count; i++) {
        const struct diagnose_sample *sample = &samples[i];
        int ends[] = {sample->from, sample->to};

        if (!(sample->received > 0) || accounts[sample->from].is_inconsistent ||
            accounts[sample->to].is_inconsistent)
            continue;
        for (int k = 0; k < 2; k++) {
            struct account *account = &accounts[ends[k]];

            account->transfers++;
            if (!is_contradicted(sample))
                continue;
            account->contradicted++;
            account->partners += ends[1 - k] != account->last_partner;
            account->last_partner = ends[1 - k];
        }
    }
}

static int worst_of(const struct diagnose_network *network, const struct account *accounts)
{
    int worst = -1;

    for (int node = 0; node < (int)network->node_count; node++) {
        const struct account *account = &accounts[node];

        if (account->partners >= REPORTS_PARTNERS_LEAST &&
            account->contradicted >= REPORTS_CONTRADICTED_SHARE * account->transfers &&
            (worst < 0 || account->contradicted > accounts[worst].contradicted))
            worst = node;
    }
    return worst;
}

long inconsistent_find(const struct diagnose_network *network, struct diagnose_sample *samples,
                       size_t count, struct inconsistent_node **inconsistent)
{
    struct account *accounts = calloc(network->node_count + 1, sizeof *accounts);
    long found = 0;
    int node;

    *inconsistent = malloc((network->node_count + 1) * sizeof **inconsistent);
    if (!accounts || !*inconsistent) {
        free(accounts);
        return -1;
    }
    for (;;) {
        count_accounts(network, samples, count, accounts);
        node = worst_of(network, accounts);
        if (node < 0)
            break;
        accounts[node].is_inconsistent = true;
        (*inconsistent)[found++] =
            (struct inconsistent_node){node, accounts[node].transfers, accounts[node].contradicted};
    }
    for (size_t i = 0; i < count; i++) {
        struct diagnose_sample *sample = &samples[i];

        /* if the ends are alike, the lower figure, which is the receiver's */
        if (is_contradicted(sample) &&
            (accounts[sample->from].is_inconsistent || !accounts[sample->to].is_inconsistent))
            sample->rate = sample->received;
    }
    free(accounts);
    return found;
}
