/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/fabric_class.h"

#include <strings.h>

static const struct {
    const char *name, *word;
} classes[] = {
    [FABRIC_NONE] = {"none", "none"},
    [FABRIC_ETHERNET] = {"Ethernet", "Ethernet"},
    [FABRIC_IWARP] = {"iWARP", "iWARP"},
    [FABRIC_ROCE_V1] = {"RoCE v1", "RoCEv1"},
    [FABRIC_ROCE_V2] = {"RoCE v2", "RoCEv2"},
    [FABRIC_EFA] = {"EFA", "EFA"},
    [FABRIC_SLINGSHOT] = {"Slingshot", "Slingshot"},
    [FABRIC_GAUDI] = {"Gaudi", "Gaudi"},
    [FABRIC_INFINIBAND] = {"InfiniBand", "InfiniBand"},
};

const char *fabric_class_name(enum fabric_class class)
{
    return classes[(unsigned)class <= FABRIC_INFINIBAND ? class : FABRIC_NONE].name;
}

bool fabric_class_is_rdma(enum fabric_class class)
{
    return class == FABRIC_INFINIBAND || class == FABRIC_ROCE_V1 || class == FABRIC_ROCE_V2;
}

const char *fabric_class_word(enum fabric_class class)
{
    return classes[(unsigned)class <= FABRIC_INFINIBAND ? class : FABRIC_NONE].word;
}

enum fabric_class fabric_class_parse(const char *word)
{
    for (int class = FABRIC_ETHERNET; class <= FABRIC_INFINIBAND; class ++)
        if (strcasecmp(word, classes[class].word) == 0 ||
            strcasecmp(word, classes[class].name) == 0)
            return (enum fabric_class) class;
    return FABRIC_NONE;
}
