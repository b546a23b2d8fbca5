/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PAIR_RUN_H
#define MUSTER_PAIR_RUN_H

#include "validate/battery/links/pair/control.h"
#include "validate/battery/links/path/channel.h"
#include "validate/battery/links/path/errors.h"
#include "validate/battery/links/path/path.h"
#include "validate/battery/links/path/probe.h"
#include "validate/harness/program.h"

/* The open rails of this node, and pair runs: each rail with the matching rail of another node, one
 * direction after the other. */

enum { PAIR_RAILS = 32, PAIR_ADDRESS_BYTES = 1024 };

/* What a node sends its partner, as a raw struct. */
struct rail_info {
    char name[INVENTORY_NAME];
    int is_open; /* up, and UCX drives it */
    int class;   /* enum fabric_class */
    struct probe_address probe;
    double nominal_mbps;
    unsigned char address[PAIR_ADDRESS_BYTES];
};

struct rail_infos {
    char boot_id[INVENTORY_NAME]; /* of the machine that the node runs on; "": not known */
    int processors;               /* of that machine */
    int count;
    struct rail_info rails[PAIR_RAILS];
};

/* One direction of one rail of one pair, or (to -1) a rail that takes no part. Sent as a raw
 * struct. */
struct link_result {
    int from, to;  /* nodes */
    int sub_round; /* sub-round of the run, the first node's */
    char rail[INVENTORY_NAME], peer_rail[INVENTORY_NAME];
    double nominal_mbps;                                /* the lower of both ends'; -1 unknown */
    double latency_us, latency_low_us, latency_high_us; /* median, least, greatest */
    double latency_stalled; /* share of the least that pauses of the processes may have made */
    int latency_count, latency_outliers, latency_stop;
    double bandwidth_mbps, bandwidth_low_mbps,
        bandwidth_high_mbps; /* of the whole; 95 % interval of its parts */
    double bandwidth_lowest_mbps;
    int bandwidth_count, bandwidth_outliers, bandwidth_stop;
    double marks_s[PATH_SAMPLES + 1]; /* of a rail among others: since their common start */
    double mark_bytes;
    int mark_count;
    double received_mbps; /* by the receiver; 0: not known */
    double stalled;       /* share of the time in which either end was kept from polling */
    double arrived_mbps;  /* by its interface as well, in the best part; 0: not known */
    /* of the sender's interface; the longest packet that arrived, 0: none did, -1: not known */
    int mtu_bytes, path_mtu_bytes;
    bool is_wrong_transport;           /* UCX took another transport or device */
    double sent_bytes, counted_bytes;  /* payload, and what the NIC counted; -1: it cannot */
    struct errors errors, peer_errors; /* that the two NICs counted meanwhile */
    struct segments pings, stream;     /* of TCP, that the sender sent */
    double damaged;
    char transport[160];
    char failure[256]; /* "" when all was measured */
    /* What libibverbs measured (verbs/verbs_pair.h): enum verb and enum verb_scope. is_state: a
     * port that takes no part or, if rail is "", two nodes that did not connect. is_gpu_memory:
     * what is known of GPU memory, with the reason in failure. */
    int is_verbs, verb, scope, is_state;
    int is_gpu_memory, has_gpu_memory, has_gpu;
    int packet_bytes; /* payload of a packet, the RDMA MTU; 0: not known */
};

struct rails {
    struct rail_infos own;
    struct channel *channels[PAIR_RAILS]; /* NULL: not open */
    struct probe *probes[PAIR_RAILS];     /* NULL: none */
    const struct rail *rails[PAIR_RAILS]; /* into the program's fabric */
};

struct link_results {
    struct link_result *items; /* malloc'd */
    int count;
};

/* Adds a result, empty but for these fields. Returns it; the pointer is valid until the next one is
 * added. */
struct link_result *results_add(struct link_results *results, int from, int to, const char *rail);

/* Opens this node's rails. Adds a result for each that is down or cannot be driven, and one if
 * there are more rails than can be measured. */
void rails_open(struct program *program, struct rails *rails, struct link_results *results);
void rails_close(struct rails *rails);

/* Returns the rail of `second` that matches rail `index` of `first`: the one of the same name or,
 * if neither end has a rail of the name that the other one has at that index, the one at that
 * index; -1: none. */
int rail_infos_match(const struct rail_infos *first, int index, const struct rail_infos *second);

struct pair_run {
    struct program *program;
    struct control *control;
    struct rails *rails;
    const struct path_plan *plan;
    struct link_results *results; /* gets what this node sent */
    int partner;
    bool is_first;    /* sends first; the partner does not */
    uint32_t session; /* the same on both ends, of no other pair run */
};

/* What each end sends the other when a direction is over. */
struct report {
    int failed;
    char text[200];
    struct errors errors;
    struct path_received received; /* the server's */
};

/* Connects to the partner. Returns its rail infos, malloc'd, or NULL if it cannot be reached; then
 * a result says so. */
struct rail_infos *pair_run_open(struct pair_run *pair_run);

/* Sets *own and *other to the indices of this node's and the partner's rail, for rail i in the
 * order of the end that sends first. Returns whether there are both, which is the same on both
 * ends; pair_run_rails(): and whether both can be driven. */
bool pair_run_match(const struct pair_run *pair_run, const struct rail_infos *theirs, int i,
                    int *own, int *other);
bool pair_run_rails(const struct pair_run *pair_run, const struct rail_infos *theirs, int i,
                    int *own, int *other);

/* Returns a number for the direction of one rail that no other direction of the run has. */
uint64_t pair_run_session(const struct pair_run *pair_run, int rail, int direction);

/* Tests whether frames of the MTU arrive on that rail in the direction. Lost ones are sent again
 * several times, as a busy switch may drop some. Both ends call it and get the same
 * *path_mtu_bytes, as of a link_result. Returns 0; 1 if a stream in that direction would hang, so
 * that none is to be tried; or -1 if the partner was lost. */
int pair_run_probe(struct pair_run *pair_run, int own, const struct rail_info *theirs,
                   uint64_t session, bool drives, const struct control_idle *idle,
                   int *path_mtu_bytes);

/* Sets the figures of result to those of a path. */
void pair_run_summarize(const struct path_result *path, struct link_result *result);
/* Sets the bandwidth to that of the time shared with others, and widens its interval to hold it. */
void pair_run_set_bandwidth(struct link_result *result, double mbps);

/* Drives or serves one direction, and reads the NIC's counters around it. Returns 0, or -1 with
 * report->text. */
int pair_run_drive(struct channel *channel, const struct rail *rail, const struct path_plan *plan,
                   struct link_result *result, struct path_result *path, struct report *report);
int pair_run_serve(struct channel *channel, const struct rail *rail, const struct path_plan *plan,
                   struct report *report);

/* Completes the result of the sender for a direction, except for its own figures. other: NULL if
 * the partner was lost; is_skipped: pair_run_probe() did not return 0. */
void pair_run_conclude(const struct rail_info *own, const struct rail_info *theirs,
                       const struct report *mine, const struct report *other, bool is_skipped,
                       struct link_result *result);

/* Measures rail after rail. Both ends call it. Returns 0, or -1 if the partner did not connect or
 * was lost. */
int pair_run_execute(struct pair_run *pair_run);

#endif
