/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_NODE_H
#define MUSTER_SPANK_NODE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/certificate/failed_rails.h"
#include "lib/conf/conf.h"
#include "lib/constants/node_constants.h"
#include "lib/node/inventory.h"
#include "lib/slurm/gresconf.h"

/* All that a step reads of its node, in one process of its own: a driver that hangs behind sysfs,
 * or a file system below muster.conf, the certificate or gres.conf, does not hold up slurmstepd. */

struct node_request {
    const char *config_path; /* NULL: the usual one */
    const char *root;        /* of a recorded machine, which has no certificate; NULL: this one */
    const char *gres_node;   /* whose devices gres.conf is to tell; NULL: not wanted */
    bool is_requested;       /* the environment is wanted whatever SetEnvironment says */
};

struct node_facts {
    struct conf conf;            /* the defaults where it could not be read */
    bool is_conf_bad;            /* the administrator's to mend: err says it */
    struct inventory *inventory; /* NULL: not read, or by conf neither SetEnvironment nor CheckSteps
                                    wants it */
    struct failed_rails failed;
    struct gres_devices gres;
    bool has_gres; /* gres is all that Slurm hands out here: AutoDetect finds no more */
};

/* Returns 0, or -1 with err when muster.conf, the node or its certificate is not known: broken, or
 * no answer in time. facts is always to be released with node_facts_clear(). */
int node_read_in_time(const struct node_request *request, struct node_facts *facts,
                      struct error *err);
void node_facts_clear(struct node_facts *facts);

#endif
