/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_REFERENCE_H
#define MUSTER_JUDGE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* What others measure on known hardware: a table of hints, each with its source. Pure. The form of
 * a line stands at the top of etc/reference.conf. */

enum reference_kind { REFERENCE_THRESHOLD, REFERENCE_EXPECTED, REFERENCE_MEASURED };
const char *reference_kind_name(enum reference_kind kind); /* "threshold", ... */

struct reference_line {
    char metric[32]; /* "links.bandwidth" */
    char unit[8];    /* "Gb/s", "GB/s", "us", as the source has it */
    double value;
    enum reference_kind kind;
    char gpu[48], cpu[48];       /* a part of the model; "": any */
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

/* Reads a text; name is the file's, for messages. Returns 0, or -1 with err "FILE:LINE: found what,
 * allowed what" and reference empty. */
int reference_parse(const char *text, const char *name, struct reference *reference,
                    struct error *err);
void reference_clear(struct reference *reference);

/* What a line is held against. A rail, or with nic_gbps 0 a node. */
struct reference_hardware {
    const char *gpu, *cpu; /* models; "": none, not known */
    int gpus;
    double nic_gbps;
    int nodes; /* that took part; 0: any */
};

/* Whether the line applies; why (of that size) gets the facts that make it so, or the first that
 * does not. */
bool reference_applies(const struct reference_line *line, const struct reference_hardware *hardware,
                       char *why, size_t size);

/* The line of that metric and kind that says most of this hardware: the one with the most
 * conditions of those that apply, of several the least value. NULL: none. */
const struct reference_line *reference_find(const struct reference *reference, const char *metric,
                                            enum reference_kind kind,
                                            const struct reference_hardware *hardware);

/* 10^6 bit/s of a line of links.bandwidth. */
double reference_mbps(const struct reference_line *line);

/* Whether muster itself measures the metric, so that a threshold can be held against it. */
bool reference_is_measured(const char *metric);

#endif
