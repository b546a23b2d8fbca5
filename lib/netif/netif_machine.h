/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_MACHINE_H
#define MUSTER_NETIF_MACHINE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/conf/netif.h"

/* Reading and making settings: on this machine, or on one that a test makes up. */

struct netif_machine {
    void *context;
    char boot_id[64];
    /* The index and the name of an interface. name NULL: the one of that index. 0; 1 when there is
     * none; -1 with err. */
    int (*find)(void *context, const char *name, int *index, char found_name[NETIF_NAME],
                struct error *err);
    /* The value that is in force on the interface. 0; -1 with err. */
    int (*get)(void *context, const char *name, int index, enum netif_setting setting, long *value,
               struct error *err);
    /* Makes it. 0; -1 with err, which says what the limit is where that can be told. */
    int (*set)(void *context, const char *name, int index, enum netif_setting setting, long value,
               struct error *err);
    /* 1 when the interface has such an address (netif_address_matches()), 0, -1 with err. */
    int (*has_address)(void *context, int index, const char *wanted, struct error *err);
    /* What a setting of all interfaces makes of a value of one of them: for the sysctls of which
     * the kernel takes the greater of conf/all and conf/INTERFACE. */
    long (*effective)(void *context, enum netif_setting setting, long value);
};

/* This machine, by netlink, ethtool and the files below root ("" for its own). Returns 0, or -1
 * with err. The caller closes it. */
int netif_machine_open(struct netif_machine *machine, const char *root, struct error *err);
void netif_machine_close(struct netif_machine *machine);

#endif
