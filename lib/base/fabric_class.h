/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FABRIC_CLASS_H
#define MUSTER_FABRIC_CLASS_H

#include <stdbool.h>

/* The kinds of network a job's data can take, worst first: the best of a node is the greatest. */
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

/* For people: "none", "Ethernet", "iWARP", "RoCE v1", "RoCE v2", "EFA", "Slingshot", "Gaudi",
 * "InfiniBand". */
const char *fabric_class_name(enum fabric_class class);

/* InfiniBand and RoCE: what verbs and UCX's rc drive. */
bool fabric_class_is_rdma(enum fabric_class class);

/* As one word, for muster.conf and variables: the same without the blank, "RoCEv2". */
const char *fabric_class_word(enum fabric_class class);

/* The class of a word or a name, in any case; FABRIC_NONE when it is none. */
enum fabric_class fabric_class_parse(const char *word);

#endif
