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

/* The gate's brake: one event of the whole site (a new kernel, certificates that ended together)
 * must not drain the cluster one job at a time. The prolog knows its own node only, so it refuses
 * jobs only with the leave that `muster check --health` wrote into the file "brake" beside the
 * certificate after it had looked at the whole cluster:
 *   muster brake 1
 *   time: 1795190000
 *   leave: yes
 *   cause: changed kernel
 *   message: 0 other nodes are refused for it, GateBrake=3
 * A leave is for one cause and for BRAKE_FRESH_S. leave: lifted is an administrator's, for any
 * cause and until the certificate holds again. */

enum { BRAKE_CAUSE = 64, BRAKE_MESSAGE = 200 };

enum brake_leave { BRAKE_ON, BRAKE_LEAVE, BRAKE_LIFTED };

struct brake {
    time_t when;
    enum brake_leave leave;
    char cause[BRAKE_CAUSE], message[BRAKE_MESSAGE];
};

/* The policy of muster.conf for a state, and the key that decided. A certificate that is not
 * genuine is worse than missing, expired and changed. */
enum conf_policy certificate_policy(const struct conf *conf, enum certificate_state state,
                                    const char **key);

/* What a node is refused for, in the words that are compared over the cluster: "expired", "changed
 * kernel", the state and of a changed node the first fact that differs, without an address behind
 * it. then: the certificate's fingerprint, NULL for none. */
void brake_cause(enum certificate_state state, const char *then, const char *now,
                 char cause[BRAKE_CAUSE]);

/* Returns 0, 1 when there is no file, -1 with err. It counts only as root's. */
int brake_read(const char *certificate_path, struct brake *brake, struct error *err);
int brake_write(const char *certificate_path, const struct brake *brake, struct error *err);
/* 0 also when there is none. */
int brake_remove(const char *certificate_path, struct error *err);

/* Whether a job may be refused for that cause now; why not, or by what leave, in one line. brake
 * NULL: there is no file. Pure. */
bool brake_permits(const struct brake *brake, const char *cause, time_t now, char *why,
                   size_t size);

/* Whether it was found to be on for that cause so lately that the cluster is not looked at again:
 * where the cause is the whole site's each node would have the controller make a table of all at
 * each of its health checks. Pure. */
bool brake_holds(const struct brake *brake, const char *cause, time_t now);

#endif
