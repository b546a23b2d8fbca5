/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RUN_REPORT_H
#define MUSTER_CERTIFY_RUN_REPORT_H

#include "validate/certify/state/run.h"

/* Records cluster, level, topology, limits, certificates, stages and notes for reports. */
void certify_facts(struct certify *certify);

/* Checks, before the tests, that the reports of the command line can be written. Returns 0, or -1
 * with err. */
int certify_reports_can_be_saved(const struct certify_options *options, struct error *err);
/* Prints on standard error, before the tests, which reports of muster.conf cannot be written. The
 * run goes on, as its certificates matter more. */
void certify_site_reports_foresee(const struct certify *certify);
/* Writes the reports of the command line and of muster.conf, and prints on standard error which
 * cannot be written. Returns 0, or -1 if one is missing. */
int certify_reports(struct certify *certify);

/* Prints the table of verdicts, the notes and the summary line. */
void certify_report(struct certify *certify, FILE *stream);

#endif
