/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/compare/facts/hosts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/tap.h"

static char messages[2][256];
static int count;

static void add_message(const char *text, void *context)
{
    if (count < 2)
        snprintf(messages[count], sizeof messages[count], "%s", text);
    count++;
}

int main(void)
{
    struct identity identities[] = {
        {"n3", "hosts", "n4", "10.0.0.9"},     {"n2", "hosts", "n4", "10.0.0.4"},
        {"n1", "hosts", "n4", "10.0.0.4"},     {"n4", "hosts", "n1", "10.0.0.1"},
        {"n2", "hosts", "n1", "10.0.0.1"},     {"n1", "hosts", "db.site", "10.2.0.1"},
        {"n4", "hosts", "db.site", "fd00::1"}, {"n1", "address", "eth1", "10.0.0.1"},
        {"n2", "address", "eth1", "10.0.0.2"},
    };
    struct duplicate *duplicates;

    is_int(hosts_differ(identities, sizeof identities / sizeof *identities, add_message, NULL), 2,
           "two names have different addresses on some nodes");
    is_str(messages[0],
           "/etc/hosts differs between nodes: db.site is 10.2.0.1 on n1, fd00::1 on n4; have all "
           "nodes say the same",
           "... a name that two nodes have");
    is_str(messages[1],
           "/etc/hosts differs between nodes: n4 is 10.0.0.4 on n[1-2], 10.0.0.9 on n3; have all "
           "nodes say the same",
           "... a name that three nodes have");
    count = 0;
    is_int(hosts_differ(identities, 0, add_message, NULL), 0, "no identities have no differences");
    is_int(duplicates_find(identities, sizeof identities / sizeof *identities, 4, &duplicates), 0,
           "addresses in /etc/hosts are no duplicates");
    free(duplicates);
    return tap_done();
}
