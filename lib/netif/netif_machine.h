/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_MACHINE_H
#define MUSTER_NETIF_MACHINE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/conf/netif.h"

/* Reads and makes settings, on this machine or on a test's simulated machine. */

struct netif_machine {
    void *context;
    char boot_id[64];
    /* Finds the index and the name of an interface by name, or if name is NULL by *index. Returns
     * 0, 1 if there is none, or -1 with err. */
    int (*find)(void *context, const char *name, int *index, char found_name[NETIF_NAME],
                struct error *err);
    /* Reads the value that is in force on the interface. Returns 0, or -1 with err. */
    int (*get)(void *context, const char *name, int index, enum netif_setting setting, long *value,
               struct error *err);
    /* Makes the setting. Returns 0, or -1 with err, which names the limit if it is known. */
    int (*set)(void *context, const char *name, int index, enum netif_setting setting, long value,
               struct error *err);
    /* Returns 1 if the interface has a matching address (netif_address_matches()), 0 if it has
     * none, or -1 with err. */
    int (*has_address)(void *context, int index, const char *wanted, struct error *err);
    /* Returns the value that is in force if an interface has this value: for some sysctls the
     * kernel uses the greater of conf/all and conf/INTERFACE. */
    long (*effective)(void *context, enum netif_setting setting, long value);
};

/* Opens this machine: netlink, ethtool, and the files below root ("" for its own files). Returns 0,
 * or -1 with err. The caller closes it. */
int netif_machine_open(struct netif_machine *machine, const char *root, struct error *err);
void netif_machine_close(struct netif_machine *machine);

#endif
