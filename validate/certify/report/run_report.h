/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RUN_REPORT_H
#define MUSTER_CERTIFY_RUN_REPORT_H

#include "validate/certify/state/run.h"

/* Cluster, level, topology, limits, certificates and what was done, for reports */
void certify_facts(struct certify *certify);

/* Whether there is a place for the reports that options ask for, looked at before
 * the tests. Returns 0, or -1 with err. */
int certify_reports_can_be_saved(const struct certify_options *options, struct error *err);
/* Says on standard error which of the configuration's reports will have no place, before the tests:
 * the run goes on, as its certificates matter more. */
void certify_site_reports_foresee(const struct certify *certify);
/* The reports that options and configuration ask for; what cannot be written is printed on standard
 * error. Returns 0, or
 * -1 when one that options ask for is missing. */
int certify_reports(struct certify *certify);

/* The table, and what was done, for people. */
void certify_report(struct certify *certify, FILE *stream);

#endif
