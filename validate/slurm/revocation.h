/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REVOCATION_H
#define MUSTER_REVOCATION_H

#include <time.h>

/* The certificate of a node that cannot be reached is revoked in the node's Comment, before what
 * the site has there: "[muster: certificates issued until 2026-11-20T16:13:20Z are revoked] rack
 * 7". Slurm keeps it over a resume by hand and over the node's next boot, where the reason of a
 * drain is gone. The node's health check, which slurmd runs before it registers, removes such a
 * certificate before the gate sees it, and so does the next certification. */

/* Returns the Comment with that revocation in place of any other, or with until 0 without one;
 * malloc'd, NULL if memory is out. */
char *revocation_set(const char *comment, time_t until);

/* Returns until when certificates are revoked; 0: there is no revocation. */
time_t revocation_read(const char *comment);

#endif
