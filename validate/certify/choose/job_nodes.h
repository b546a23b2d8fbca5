/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_JOB_NODES_H
#define MUSTER_CERTIFY_JOB_NODES_H

#include "validate/certify/state/run.h"

/* Replaces names by the nodes that the next job, certify->job, requests. JOB_CHECK: all nodes of
 * one partition that may be allocated; sets certify->partition, and notes of each other node why it
 * is left out. JOB_BATTERY: the nodes without a fault so far. JOB_CERTIFICATES: the nodes that
 * certify_is_available() accepts. Release names with hostlist_clear(). Returns their number. */
size_t certify_job_nodes(struct certify *certify, struct hostlist *names);

#endif
