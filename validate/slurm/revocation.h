/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REVOCATION_H
#define MUSTER_REVOCATION_H

#include <time.h>

/* The certificate of a node that cannot be reached is revoked in the node's Comment, before what
 * the site has there: "[muster: certificates issued until 2026-11-20T16:13:20Z are revoked] rack
 * 7". Slurm keeps Comment after a manual resume and after a boot, unlike the reason of a drain.
 * slurmd runs the node's health check before it registers: the check removes a revoked certificate
 * before the gate sees it. The next certification removes it too. */

/* Returns the Comment with that revocation in place of any other, or with until 0 without one;
 * malloc'd, NULL if memory is out. */
char *revocation_set(const char *comment, time_t until);

/* Returns until when certificates are revoked; 0: there is no revocation. */
time_t revocation_read(const char *comment);

#endif
