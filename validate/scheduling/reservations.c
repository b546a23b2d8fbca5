/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/check.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/hostlist.h"

/* Checks reservations: for whom they are, what they have, and whether they overlap. */

/* Returns whether the reservation is meant to lie over others: Slurm's flag MAINT. */
static bool lies_over(const struct site_record *reservation)
{
    return site_list_has(site_value(reservation, "Flags"), "MAINT");
}

/* Returns whether the reservations overlap in time. The times of scontrol are in the order of their
 * text. */
static bool are_at_once(const struct site_record *one, const struct site_record *other)
{
    return strcmp(site_value(one, "StartTime"), site_value(other, "EndTime")) < 0 &&
           strcmp(site_value(other, "StartTime"), site_value(one, "EndTime")) < 0;
}

/* Writes the first node of both lists to text. Returns false if there is none, or a list cannot be
 * read. */
static bool share_node(const char *one, const char *other, char *text, size_t size)
{
    struct hostlist list = {0}, others = {0}, both = {0};
    bool is_shared = hostlist_expand(one, &list, NULL) == 0 &&
                     hostlist_expand(other, &others, NULL) == 0 &&
                     hostlist_split(&list, &others, &both, NULL) == 0 && both.count > 0;

    if (is_shared)
        snprintf(text, size, "%s", both.names[0]);
    hostlist_clear(&list);
    hostlist_clear(&others);
    hostlist_clear(&both);
    return is_shared;
}

/* Compares the reservation with those that come later in the table. */
static void check_overlap(struct policy_findings *findings, const struct site_record *one,
                          const char *object)
{
    const struct site_record *other = one;
    char node[256];

    while (site_next(findings->site, CLUSTER_RESERVATIONS, &other))
        if (!lies_over(one) && !lies_over(other) && are_at_once(one, other) &&
            share_node(site_value(one, "Nodes"), site_value(other, "Nodes"), node, sizeof node))
            policy_add(findings, POLICY_RESERVATION_OVERLAPS, NULL, object,
                       "reservation %s has %s, for example, at the same time",
                       site_value(other, "ReservationName"), node);
}

static void check_nodes(struct policy_findings *findings, const struct site_record *one,
                        const char *object)
{
    const char *nodes = site_value(one, "Nodes");
    struct hostlist list = {0};

    if (hostlist_expand(nodes, &list, NULL) != 0)
        return;
    if (list.count == 0 && !*site_value(one, "Licenses") && !*site_value(one, "BurstBuffer"))
        policy_add(findings, POLICY_RESERVATION_WITHOUT_NODES, NULL, object,
                   "it has neither nodes nor licenses");
    for (size_t i = 0; i < list.count; i++)
        if (!site_find(findings->site, CLUSTER_NODES, "NodeName", list.names[i])) {
            policy_add(findings, POLICY_RESERVATION_WITHOUT_NODES, NULL, object,
                       "Nodes=%s, but %s does not exist", nodes, list.names[i]);
            break;
        }
    hostlist_clear(&list);
}

/* Checks the names in a list of the reservation. Those that begin with "-" are kept out, and need
 * not exist. */
static void check_names(struct policy_findings *findings, const struct site_record *one,
                        const char *object, const char *key)
{
    const struct site *site = findings->site;
    const char *list = site_value(one, key);
    bool is_account = strcmp(key, "Accounts") == 0;
    enum site_name what = strcmp(key, "Groups") == 0 ? SITE_GROUP : SITE_USER;
    char word[256];

    while (site_word(&list, word, sizeof word)) {
        bool is_known = is_account ? !site->has_accounting ||
                                         site_find(site, CLUSTER_ASSOCIATIONS, "Account", word)
                                   : !site->knows || site->knows(what, word, site->context) != 0;

        if (word[0] != '-' && !is_known)
            policy_add(findings, POLICY_RESERVATION_FOR_NOBODY, NULL, object,
                       "%s=%s, but %s does not exist", key, site_value(one, key), word);
    }
}

void policy_check_reservations(struct policy_findings *findings)
{
    const struct site_record *one = NULL;

    while (site_next(findings->site, CLUSTER_RESERVATIONS, &one)) {
        struct text_line object = policy_object(CLUSTER_RESERVATIONS, one);

        check_overlap(findings, one, object.text);
        check_nodes(findings, one, object.text);
        check_names(findings, one, object.text, "Users");
        check_names(findings, one, object.text, "Accounts");
        check_names(findings, one, object.text, "Groups");
    }
}
