/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HTML_H
#define MUSTER_HTML_H

#include <stdio.h>

#include "validate/report/survey.h"

/* Inside of html: the template, made from page/ at build time, and the data that goes into it. */

/* The page with "@@title@@" and "@@data@@" where title and data belong; ends in a NUL byte. */
extern const unsigned char page_template[];

/* A JSON string that can stand inside of <script>: nothing in it ends the element or begins a
 * comment (html.spec.whatwg.org, 4.12.1.3). NULL is "". */
void html_string(FILE *stream, const char *text);

/* A JSON number, null for what is none. */
void html_number(FILE *stream, double number);

/* html_links.c: the rails as a JSON array. A rail and metric is {"count", "median", "reference",
 * "origin", "step", "mask", "values", "low", "high", "verdicts", "limits", "limit_of"}: mask are
 * lengths of cells, of all nodes by all nodes, that were not measured and that were, by turns; it
 * is left out where it is that of the figures before; values are the measured ones, 16 bits each
 * with the low byte first, in base64: exp(origin + code * step), 65535 is 0, 65534 none; verdicts
 * and limit_of are pairs of value and length over the measured cells; limit_of counts limits
 * [limit, source] from 1, 0 is none. 0, or -1 when memory is out. */
int html_rails(FILE *stream, const struct survey *survey);

/* html_training.c: the steps that muster-train told as {"steps": how many, "points": [[step, mean,
 * least and greatest loss in nats, tokens/s], ...], "ends": [first loss, last loss]}: at most 400
 * points, each of as many steps as that takes. 0, or -1 when memory is out. */
int html_training(FILE *stream, const struct survey *survey);

#endif
