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

/* A step reads all that it needs of its node in one child process: a hanging driver behind sysfs,
 * or file system of muster.conf, the certificate or gres.conf, does not hold up slurmstepd. */

struct node_request {
    const char *config_path; /* NULL: the default path */
    const char *root;        /* of a recorded machine, which has no certificate; NULL: this one */
    const char *gres_node;   /* the node whose devices are read from gres.conf; NULL: none */
    bool is_requested;       /* set the environment even with SetEnvironment=no */
};

struct node_facts {
    struct conf conf;            /* the defaults if it could not be read */
    bool is_conf_bad;            /* muster.conf is unreadable or invalid; err says why */
    struct inventory *inventory; /* NULL: not read, or neither SetEnvironment nor CheckSteps of conf
                                    wants it */
    struct failed_rails failed;
    struct gres_devices gres;
    bool has_gres; /* gres lists all devices that Slurm hands out here: there is no AutoDetect */
};

/* Returns 0, or -1 with err if muster.conf or the node cannot be read, or if one of them or the
 * certificate is not read in time. A failure with gres.conf is logged and returns 0. Release facts
 * with node_facts_clear() in either case. */
int node_read_with_deadline(const struct node_request *request, struct node_facts *facts,
                            struct error *err);
void node_facts_clear(struct node_facts *facts);

#endif
