/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_REFERENCE_H
#define MUSTER_JUDGE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* What others measure on known hardware: a table of hints, each with its source. Pure. The format
 * of a line is described at the top of etc/reference.conf. */

enum reference_kind { REFERENCE_THRESHOLD, REFERENCE_EXPECTED, REFERENCE_MEASURED };
const char *reference_kind_name(enum reference_kind kind); /* "threshold", ... */

struct reference_line {
    char metric[32]; /* "links.bandwidth" */
    char unit[8];    /* "Gb/s", "GB/s", "us", as in the source */
    double value;
    enum reference_kind kind;
    char gpu[48], cpu[48];       /* a word of the model's name; "": any */
    int gpus;                    /* -1: any number */
    double nic_gbps;             /* 10^9 bit/s; 0: any */
    int nodes_least, nodes_most; /* 0: any */
    char source[160], seen[16], note[120];
    unsigned line;
};

struct reference {
    char file[64]; /* the last part of its path */
    struct reference_line *lines;
    size_t count;
};

/* Parses a text; name: the file's, for messages. Returns 0, or -1 with err "FILE:LINE: found what,
 * allowed what" and reference empty. */
int reference_parse(const char *text, const char *name, struct reference *reference,
                    struct error *err);
void reference_clear(struct reference *reference);

/* The hardware to which a line may apply: of a rail, or with nic_gbps 0 of a node. */
struct reference_hardware {
    const char *gpu, *cpu; /* models; "": none or unknown */
    int gpus;
    double nic_gbps;
    int nodes; /* number of nodes that took part; 0: any */
};

/* Whether the line applies to the hardware. Sets why, of size bytes, to the facts for which it
 * applies, or to the first for which it does not. */
bool reference_applies(const struct reference_line *line, const struct reference_hardware *hardware,
                       char *why, size_t size);

/* Returns the line of the metric and kind that is most specific to the hardware: of the lines that
 * apply the one with the most conditions, of several that with the least value. NULL: none. */
const struct reference_line *reference_find(const struct reference *reference, const char *metric,
                                            enum reference_kind kind,
                                            const struct reference_hardware *hardware);

/* Returns the value of a line of links.bandwidth in 10^6 bit/s. */
double reference_mbps(const struct reference_line *line);

/* Whether muster itself measures the metric, so that it can be compared with a threshold. */
bool reference_is_measured(const char *metric);

#endif
