/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HTML_H
#define MUSTER_HTML_H

#include <stdio.h>

#include "validate/report/survey.h"

/* Internals of the HTML format: the template, made from page/ at build time, and its data. */

/* The page, with "@@title@@" and "@@data@@" in the places of title and data; ends with NUL. */
extern const unsigned char page_template[];

/* Writes `before` as it is, and a JSON string that is safe inside of <script>: it cannot end the
 * element or begin a comment (html.spec.whatwg.org, 4.12.1.3). NULL is "". */
void html_string(FILE *stream, const char *before, const char *text);

/* Writes `before` as it is, and a JSON number; null if it is not finite. */
void html_number(FILE *stream, const char *before, double number);

/* html_links.c: writes the rails as a JSON array. A rail and metric is {"count", "median",
 * "reference", "origin", "step", "mask", "values", "low", "high", "verdicts", "limits",
 * "limit_of"}. mask: alternating lengths of runs of cells, of all nodes by all nodes, not measured
 * and measured; left out if it equals the mask before. values: of the measured cells, 16 bits each
 * with the low byte first, in base64: exp(origin + code * step); 65535 is 0, 65534 none. verdicts
 * and limit_of: pairs of value and run length over the measured cells. limit_of: index in limits
 * [limit, source] from 1; 0 is none. Returns 0, or -1 if memory is out. */
int html_rails(FILE *stream, const struct survey *survey);

/* html_training.c: writes the steps that muster-train reported as {"steps": their number, "points":
 * [[step, mean, least and greatest loss in nats, tokens/s], ...], "ends": [first loss, last loss]}.
 * It has at most 400 points, each of several steps if needed. Returns 0, or -1 if memory is out. */
int html_training(FILE *stream, const struct survey *survey);

#endif
