/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORD_H
#define MUSTER_RECORD_H

#include <stdio.h>

#include "lib/catalog/catalog.h"

/* One measurement or verdict; doc/records.md is the schema. Strings are borrowed. A string that is
 * NULL or "", or a number that is NAN, is absent. Initialize it with RECORD_INIT. */
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
    double outliers;          /* number of samples that are outliers */
    double lowest;            /* the lowest sample, in unit */
    const char *stopped;      /* why there are no more samples: "interval", "budget" */
    double limit;             /* the limit that value was compared with, in unit */
    const char *limit_source; /* "nominal", "peers", "conf", "sysfs", "majority" */
    double confidence;        /* in the verdict, 0 to 1 */
    double shared;            /* pairs that used the same uplink at that time, with this one */
    double round;             /* of the run, from 1: links of one round were measured at once */
    double stalled;           /* share of the time in which a process could not run */
    double job, user;         /* Slurm's ID of the job that the record is about, and its user's */
    enum verdict verdict;
    enum fault_code code;                /* FAULT_NONE: the test's code, see record_code() */
    const char *code_name, *remediation; /* of FAULT_UNLISTED, as they were read */
    const char *message;                 /* one line for a person */
    const char *run; /* id of the run; NULL: from the environment variable MUSTER_RUN */
    double time;     /* seconds since the epoch, UTC; NAN: now */
};

/* If MUSTER_PROGRESS is set, a program of the battery reports its progress in lines on standard
 * error that begin with this. muster certify shows them. */
#define RECORD_PROGRESS "muster-progress: "

/* The members by their keys, in the order in which they are written. */
#define RECORD_MEMBERS(TEXT, NUMBER, SAMPLES, VERDICT)                                             \
    TEXT("run", run)                                                                               \
    NUMBER("time", time)                                                                           \
    TEXT("suite", suite)                                                                           \
    TEXT("test", test)                                                                             \
    TEXT("metric", metric)                                                                         \
    TEXT("node", node)                                                                             \
    TEXT("part", part)                                                                             \
    TEXT("peer", peer)                                                                             \
    NUMBER("value", value)                                                                         \
    TEXT("unit", unit)                                                                             \
    SAMPLES("samples", samples)                                                                    \
    NUMBER("low", low)                                                                             \
    NUMBER("high", high)                                                                           \
    NUMBER("lowest", lowest)                                                                       \
    NUMBER("outliers", outliers)                                                                   \
    TEXT("stopped", stopped)                                                                       \
    NUMBER("limit", limit)                                                                         \
    TEXT("limit_source", limit_source)                                                             \
    NUMBER("confidence", confidence)                                                               \
    NUMBER("shared", shared)                                                                       \
    NUMBER("round", round)                                                                         \
    NUMBER("stalled", stalled)                                                                     \
    NUMBER("job", job)                                                                             \
    NUMBER("user", user)                                                                           \
    VERDICT("verdict", verdict)                                                                    \
    TEXT("code", code_name)                                                                        \
    TEXT("remediation", remediation)                                                               \
    TEXT("message", message)

#define RECORD_NONE(key, member)
#define RECORD_NAN(key, member) .member = __builtin_nan(""),
#define RECORD_ABSENT RECORD_MEMBERS(RECORD_NONE, RECORD_NAN, RECORD_NONE, RECORD_NONE)
#define RECORD_INIT                                                                                \
    {                                                                                              \
        RECORD_ABSENT                                                                              \
    }

/* A record with these members, as RECORD(.test = "links", .value = 3); the others are absent. */
#define RECORD(...)                                                                                \
    ({                                                                                             \
        _Pragma("GCC diagnostic push")                                                             \
            _Pragma("GCC diagnostic ignored \"-Woverride-init\"") struct record made_ = {          \
                RECORD_ABSENT __VA_ARGS__};                                                        \
        _Pragma("GCC diagnostic pop") made_;                                                       \
    })

/* Returns the fault code of a record with the verdict warn, unknown or fail: its own code, else its
 * test's. FAULT_NONE for other records. FAULT_UNLISTED is a code that this muster does not know.
 * Programs decide by it. */
enum fault_code record_code(const struct record *record);

/* Return the code's name and its remediation; "" if nothing is wrong. For a code that the catalog
 * does not have, the texts in the record; if these are lost, the texts of the test's code. Never
 * NULL. */
const char *record_code_name(const struct record *record);
const char *record_remediation(const struct record *record);

/* Sets the code by its name; FAULT_UNLISTED with the name if the catalog does not have it. NULL or
 * "": no code. */
void record_set_code(struct record *record, const char *name);

/* Returns whether the record reports that a rank of an MPI program did not start or did not run to
 * its end. */
bool record_lacks_rank(const struct record *record);

/* The receiver of records that are made here and printed elsewhere. */
struct record_sink {
    void (*take)(struct record *record, void *context);
    void *context;
};

/* Passes the record with its message to the sink. A record with a code and no verdict gets the
 * severity of its code in the catalog; without both it is a measurement or a fact. */
void record_report(const struct record_sink *sink, struct record record, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Passes the record to the sink with the verdict pass, without a message. */
void record_report_pass(const struct record_sink *sink, struct record record);

/* Writes the record, with record_code_name() and record_remediation(), as one JSON object on one
 * line, and flushes; in one write if the line fits the stream's buffer. Bytes that are not UTF-8
 * are written as U+FFFD. Returns 0, or -1 with errno. */
int record_write(FILE *stream, const struct record *record);

/* Writes the record with this message, cut to 4095 bytes. */
void record_put(FILE *stream, struct record record, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the present time for records: seconds since 1970, in whole milliseconds. */
double record_now_s(void);

#endif
