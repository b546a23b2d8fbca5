/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/sysfs.h"

/* Facts: the addresses of the step's nodes in this node's /etc/hosts. They are not reported above
 * HOSTS_NODES_MAX nodes, as each node would report all nodes. */

enum { HOSTS_NODES_MAX = 64, HOSTS_BYTES = 4 << 20 };

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* Keeps the first address of each name, IPv4 before IPv6, as the resolver does by default. */
static void parse_line(char *line, const struct hostlist *nodes, const char **found)
{
    char *rest = NULL, *address, *word;

    line[strcspn(line, "#")] = '\0';
    address = strtok_r(line, " \t\r", &rest);
    if (!address || is_loopback(address))
        return;
    while ((word = strtok_r(NULL, " \t\r", &rest)))
        for (size_t i = 0; i < nodes->count; i++)
            if (strcmp(nodes->names[i], word) == 0 &&
                (!found[i] || (strchr(found[i], ':') && !strchr(address, ':'))))
                found[i] = address;
}

void facts_hosts(const struct checks *checks)
{
    const char *list = getenv("SLURM_STEP_NODELIST");
    const char *found[HOSTS_NODES_MAX] = {NULL};
    struct hostlist nodes = {0};
    char *text = NULL, *rest, *line;

    if (list && hostlist_expand(list, &nodes, NULL) == 0 && nodes.count <= HOSTS_NODES_MAX)
        text = sysfs_file(checks->root, HOSTS_BYTES, "etc/hosts");
    rest = text;
    while ((line = strsep(&rest, "\n")))
        parse_line(line, &nodes, found);
    for (size_t i = 0; text && i < nodes.count; i++)
        if (found[i])
            fact_text(checks, "hosts", nodes.names[i], found[i]);
    free(text);
    hostlist_clear(&nodes);
}
