/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BRAKE_H
#define MUSTER_BRAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/constants/node_constants.h"

/* The gate's brake: one event of the whole site (a new kernel, certificates that expired together)
 * must not drain the cluster one job at a time. The prolog knows only its own node. So it refuses
 * jobs only with a permission in the file "brake" beside the certificate. `muster check --health`
 * writes it after it has examined the whole cluster:
 *   muster brake 1
 *   time: 1795190000
 *   leave: yes
 *   cause: changed kernel
 *   message: 0 other nodes are refused for it, GateBrake=3
 * A permission is valid for one cause and for BRAKE_FRESH_S. "leave: lifted" is an administrator's:
 * it is valid for any cause, until the certificate is valid again. */

enum { BRAKE_CAUSE = 64, BRAKE_MESSAGE = 200 };

enum brake_permission { BRAKE_ON, BRAKE_PERMITTED, BRAKE_LIFTED };

struct brake {
    time_t when;
    enum brake_permission permission;
    char cause[BRAKE_CAUSE], message[BRAKE_MESSAGE];
};

/* Returns the policy of muster.conf for a state; *key is the key that decided. A certificate that
 * is not genuine gets the strictest policy of missing, expired and changed. */
enum conf_policy certificate_policy(const struct conf *conf, enum certificate_state state,
                                    const char **key);

/* Formats the cause of a refusal, by which nodes are compared: the state, and for a changed node
 * the first fact that differs, without an address ("expired", "changed kernel"). then: the
 * certificate's fingerprint, now: the node's; NULL: none. */
void brake_cause(enum certificate_state state, const char *then, const char *now,
                 char cause[BRAKE_CAUSE]);

/* Returns 0, 1 if there is no file, or -1 with err, also if the file is not root's. */
int brake_read(const char *certificate_path, struct brake *brake, struct error *err);
int brake_write(const char *certificate_path, const struct brake *brake, struct error *err);
/* Returns 0, also if there is no file, or -1 with err. */
int brake_remove(const char *certificate_path, struct error *err);

/* Returns whether a job may be refused for this cause now. why: one line, the permission or why
 * there is none. brake NULL: there is no file. Pure. */
bool brake_permits(const struct brake *brake, const char *cause, time_t now, char *why,
                   size_t size);

/* Returns whether the brake was set for this cause less than BRAKE_FRESH_S / 2 ago. Then the
 * cluster is not examined again: for a cause of the whole site, each node would query the
 * controller for all nodes at each health check. Pure. */
bool brake_is_recent(const struct brake *brake, const char *cause, time_t now);

#endif
