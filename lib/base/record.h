/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORD_H
#define MUSTER_RECORD_H

#include <stdio.h>

#include "lib/catalog/catalog.h"

/* One measurement or verdict; doc/records.md is the schema. Strings are borrowed, NULL or "" is
 * "absent"; a number that is NAN is absent. Initialise with RECORD_INIT. */
struct record {
    const char *suite;        /* the program or stage: "check", "launch", "links", "collectives" */
    const char *test;         /* name of the battery's table: "net.interfaces", "links" */
    const char *metric;       /* "bandwidth", "latency", "mtu" */
    const char *node;         /* Slurm's node name */
    const char *part;         /* the part of that node: "eth1", "mlx5_0:1", "gpu3", "rank 5" */
    const char *peer;         /* other end: node name */
    double value;             /* in unit */
    const char *unit;         /* "Mb/s", "us", "MB", "bytes", "s", "count" */
    double low, high;         /* 95 % interval of the median, or the range, of the samples */
    unsigned samples;         /* 0: absent */
    double outliers;          /* how many samples are not of one kind with the others */
    double lowest;            /* the lowest sample, in unit */
    const char *stopped;      /* why there are no more samples: "interval", "budget" */
    double limit;             /* what value was judged against, in unit */
    const char *limit_source; /* "nominal", "peers", "conf", "sysfs", "majority" */
    double confidence;        /* in the verdict, 0 to 1 */
    double shared;            /* pairs that used the same uplink at that time, itself counted */
    double round;             /* of the run, from 1: links with the same were measured at once */
    double stalled;           /* share of the time in which a process was kept from running */
    double job, user;         /* Slurm's number of the job that it is about, and its user's ID */
    enum verdict verdict;
    enum fault_code code;                /* FAULT_NONE: that of the test, record_code() */
    const char *code_name, *remediation; /* of FAULT_UNLISTED, as they were read */
    const char *message;                 /* one line for a person */
    const char *run; /* id of the run; NULL: from the environment variable MUSTER_RUN */
    double time;     /* seconds since the epoch, UTC; NAN: now */
};

/* With MUSTER_PROGRESS in its environment a program of the battery tells its progress by whole
 * lines on standard error that begin with this, for muster certify to show. */
#define RECORD_PROGRESS "muster-progress: "

#define RECORD_ABSENT                                                                              \
    .value = __builtin_nan(""), .low = __builtin_nan(""), .high = __builtin_nan(""),               \
    .outliers = __builtin_nan(""), .lowest = __builtin_nan(""), .limit = __builtin_nan(""),        \
    .confidence = __builtin_nan(""), .shared = __builtin_nan(""), .round = __builtin_nan(""),      \
    .stalled = __builtin_nan(""), .job = __builtin_nan(""), .user = __builtin_nan(""),             \
    .time = __builtin_nan("")
#define RECORD_INIT                                                                                \
    {                                                                                              \
        RECORD_ABSENT                                                                              \
    }

/* A record of those members, as RECORD(.test = "links", .value = 3); the others are absent. */
#define RECORD(...)                                                                                \
    ({                                                                                             \
        _Pragma("GCC diagnostic push")                                                             \
            _Pragma("GCC diagnostic ignored \"-Woverride-init\"") struct record made_ = {          \
                RECORD_ABSENT, __VA_ARGS__};                                                       \
        _Pragma("GCC diagnostic pop") made_;                                                       \
    })

/* What is wrong by this record, of verdict warn, unknown or fail: its own code, else that of its
 * test. FAULT_NONE where nothing is. FAULT_UNLISTED is a code that this muster does not know.
 * Programs decide by it. */
enum fault_code record_code(const struct record *record);

/* Its name, and what to do first; "" where nothing is wrong. What stands in the record of a code
 * that the catalog does not have; where that is lost, the test's. Never NULL. */
const char *record_code_name(const struct record *record);
const char *record_remediation(const struct record *record);

/* Sets the code by its name, FAULT_UNLISTED with the name where the catalog does not have it. NULL,
 * "": none. */
void record_set_code(struct record *record, const char *name);

/* Whether it says that a rank of an MPI program did not start, or did not run to its end. */
bool record_lacks_rank(const struct record *record);

/* Where records go that are made here and printed elsewhere. */
struct record_sink {
    void (*take)(struct record *record, void *context);
    void *context;
};

/* Hands the record on with its message. One with a code and no verdict has that of its code in the
 * catalog; without both it is a measurement or a fact. */
void record_report(const struct record_sink *sink, struct record record, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Hands on that it passes, without a message. */
void record_report_pass(const struct record_sink *sink, struct record record);

/* Writes the record, with record_code_name() and record_remediation(), as one JSON object on one
 * line and flushes, in one write where the line fits the stream's buffer. Bytes that are not UTF-8
 * come out as U+FFFD. Returns 0, or -1 with errno. */
int record_write(FILE *stream, const struct record *record);

/* The same with that message, cut to 4095 bytes. */
void record_put(FILE *stream, struct record record, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The time of now as records have it: seconds since 1970, in whole milliseconds. */
double record_now_s(void);

#endif
