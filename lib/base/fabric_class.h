/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FABRIC_CLASS_H
#define MUSTER_FABRIC_CLASS_H

#include <stdbool.h>

/* The classes of networks for a job's data, from the worst to the best. */
enum fabric_class {
    FABRIC_NONE,
    FABRIC_ETHERNET, /* plain TCP */
    FABRIC_IWARP,
    FABRIC_ROCE_V1,
    FABRIC_ROCE_V2,
    FABRIC_EFA,
    FABRIC_SLINGSHOT,
    FABRIC_GAUDI, /* the 24 ports of a Gaudi chip */
    FABRIC_INFINIBAND,
};

/* Returns the name for people: "none", "Ethernet", "iWARP", "RoCE v1", "RoCE v2", "EFA",
 * "Slingshot", "Gaudi", "InfiniBand". */
const char *fabric_class_name(enum fabric_class class);

/* Returns whether UCX uses the class through verbs (its transport rc): InfiniBand and RoCE. */
bool fabric_class_is_rdma(enum fabric_class class);

/* Returns the name as one word, for muster.conf and variables: without the blank, "RoCEv2". */
const char *fabric_class_word(enum fabric_class class);

/* Returns the class with this word or name, in any case, or FABRIC_NONE. */
enum fabric_class fabric_class_parse(const char *word);

#endif
