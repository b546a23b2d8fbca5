/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/settle/actions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "validate/certify/report/run_records.h"
#include "validate/history/node_status.h"
#include "validate/policy/testing.h"

/* Tests what a run does to nodes after their test, with a made-up controller: it lifts muster's
 * own drains, and drains, spares and releases nodes. Each operation and each journal entry is
 * refused in turn. */

enum { NODES = 10, CAP = 2, OPERATIONS_MOST = 200 };

static const char *const names[NODES] = {"n1", "n2", "n3", "n4", "n5",
                                         "n6", "n7", "n8", "n9", "n10"};
static const char *const muster_reason = "muster: rail_slow eth1 9 of 98 Mb/s 2026-11-01";

/* the controller */
static struct {
    bool is_drained, is_down, is_absent, is_invalid;
    char reason[256], comment[256];
    bool is_marked_before, is_noted, is_settled; /* in the journal: it is noted; it is done */
    bool is_down_noted;
    int drains, resumes;
} controller[NODES];
static int operation_count;
static int refused_operation; /* number of the operation that is refused; 0: none */
static bool refuses_all;      /* refuses also all operations after refused_operation */
static char notes[8192];

static int index_of(const char *name)
{
    for (int i = 0; i < NODES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    tap_diag("no node %s", name);
    abort();
}

static int begin_operation(struct error *err)
{
    operation_count++;
    if (refused_operation == 0 || operation_count < refused_operation ||
        (operation_count > refused_operation && !refuses_all))
        return 0;
    return err ? error_set(err, "refused") : -1;
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    static struct cluster_node kept[2][NODES]; /* the previous load stays valid */
    static int loads;
    struct cluster_node *nodes = kept[loads++ % 2];

    if (begin_operation(err) != 0)
        return -1;
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct cluster_node){.name = (char *)(size_t)names[i],
                                         .reason = controller[i].reason,
                                         .comment = controller[i].comment,
                                         .is_drained = controller[i].is_drained,
                                         .is_down = controller[i].is_down,
                                         .is_absent = controller[i].is_absent,
                                         .is_invalid = controller[i].is_invalid};
    *cluster = (struct cluster){.nodes = nodes, .node_count = NODES};
    return 0;
}

enum change { NONE, DRAIN, RESUME, COMMENT };
static enum change n5_refuses; /* the change that is refused for n5 */

static int change_nodes(const char *list, const char *text, enum change what, struct error *err)
{
    struct hostlist nodes = {0};

    if (begin_operation(err) != 0)
        return -1;
    hostlist_expand(list, &nodes, err);
    if (what == n5_refuses && hostlist_contains(&nodes, "n5")) {
        hostlist_clear(&nodes);
        return error_set(err, "n5: refused");
    }
    for (size_t k = 0; k < nodes.count; k++) {
        int i = index_of(nodes.names[k]);

        if (what == COMMENT)
            snprintf(controller[i].comment, sizeof controller[i].comment, "%s", text);
        if (what == DRAIN)
            snprintf(controller[i].reason, sizeof controller[i].reason, "%s", text);
        if (what == RESUME)
            controller[i].is_marked_before = strstr(controller[i].comment, "[muster run: ") != NULL;
        if (what != COMMENT)
            controller[i].is_drained = what == DRAIN;
        controller[i].drains += what == DRAIN;
        controller[i].resumes += what == RESUME;
    }
    hostlist_clear(&nodes);
    return 0;
}

static void (*at_drain)(void); /* what another head does just before our drain takes effect */

static int drain(const char *list, const char *reason, struct error *err)
{
    if (at_drain)
        at_drain();
    at_drain = NULL;
    return change_nodes(list, reason, DRAIN, err);
}

static int resume(const char *list, const char *text, struct error *err)
{
    return change_nodes(list, text, RESUME, err);
}

static int set_comment(const char *list, const char *text, struct error *err)
{
    return change_nodes(list, text, COMMENT, err);
}

static const struct cluster_operations operations = {
    .load_nodes = load_nodes, .drain = drain, .resume = resume, .set_comment = set_comment};

struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    return cluster->node_count > 0 ? &cluster->nodes[index_of(name)] : NULL;
}

void cluster_clear(struct cluster *cluster)
{
    *cluster = (struct cluster){0};
}

static unsigned slept_s;

unsigned __wrap_sleep(unsigned seconds)
{
    slept_s += seconds;
    return 0;
}

/* the journal */
int undo_note_resumes(struct undo *undo, const struct batch *drains, struct error *err)
{
    if (begin_operation(err) != 0)
        return -1;
    for (size_t i = 0; i < drains->count; i++)
        controller[index_of(drains->nodes[i].name)].is_noted = true;
    return 0;
}

int undo_note_settled(struct undo *undo, const struct batch *nodes, struct error *err)
{
    if (begin_operation(err) != 0)
        return -1;
    for (size_t i = 0; i < nodes->count; i++)
        controller[index_of(nodes->nodes[i].name)].is_settled = true;
    return 0;
}

int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    if (begin_operation(err) != 0)
        return -1;
    controller[index_of(node)].is_down_noted = true;
    return 0;
}

/* other runs on this host that compete for the lock */
static int lock, locks,
    lock_reason; /* locks: how often; lock_reason: errno of a lock that fails; 0: it succeeds */
static void (*at_lock)(void); /* what another run does before it releases the lock */

int testing_lock(const char *directory, struct error *err)
{
    locks++;
    if (at_lock)
        at_lock();
    if (lock_reason != 0) {
        error_set(err, "cannot lock");
        errno = lock_reason;
        return -1;
    }
    return lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The rest of the run, which this part must not use. */
void certify_note(struct certify *certify, const char *format, ...)
{
    size_t length = strlen(notes);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(notes + length, sizeof notes - length, format, arguments);
    va_end(arguments);
    length = strlen(notes);
    snprintf(notes + length, sizeof notes - length, "\n");
}

struct node_run *certify_node_run(const struct certify *certify, const char *name)
{
    return &certify->node_runs[index_of(name)];
}

void certify_verdict(struct certify *certify, struct node_run *node_run, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message)
{
    outcome_note(&node_run->outcome, stage, verdict, FAULT_NONE, test, part, message);
}

static enum verdict strike_verdict; /* verdict of the last recorded strike */

void certify_record(struct certify *certify, struct record record)
{
    if (strcmp(record.test, "strikes") == 0)
        strike_verdict = record.verdict;
}

/* the history: the fingerprint of each node, and its strikes */
static uint64_t counted_fingerprint; /* the fingerprint of the last counted strikes */
static int fact_loads;               /* how often all nodes' facts were read */
static int strikes = 1;              /* including the new one; -1: the history cannot be read */

uint64_t *certify_fingerprints(const struct certify *certify)
{
    uint64_t *fingerprints = calloc(certify->count, sizeof *fingerprints);

    fact_loads++;
    for (size_t i = 0; fingerprints && i < certify->count; i++)
        fingerprints[i] = 700 + i;
    return fingerprints;
}

int node_status_strike(const char *path, const char *cluster, const char *node,
                       enum fault_code code, const char *part, uint64_t fingerprint, double now,
                       double window_s, struct error *err)
{
    counted_fingerprint = fingerprint;
    return strikes > 0 ? strikes : error_set(err, "the history is damaged");
}

/* ---------------------------------------------------------------- the run */

static struct certify run;
static struct node_run node_runs[NODES];
static struct cluster_node cluster_nodes[NODES]; /* as read when the run began */

/* n1 passes. n2 is to be drained. n3 fails with a code that never drains. n4 has no result. n5
 * and n6 were drained by muster: n5 passes, n6 fails. n7 is a suspect. n8 was drained by an
 * administrator. n9 is to be drained, but the cap does not allow it. n10 passes. */
static void run_begin(void)
{
    static struct cluster_node *by_name[NODES];

    memset(controller, 0, sizeof controller);
    memset(node_runs, 0, sizeof node_runs);
    notes[0] = '\0';
    operation_count = 0;
    snprintf(controller[4].reason, sizeof controller[4].reason, "%s", muster_reason);
    snprintf(controller[5].reason, sizeof controller[5].reason, "%s", muster_reason);
    snprintf(controller[5].comment, sizeof controller[5].comment, "rack 7");
    snprintf(controller[7].reason, sizeof controller[7].reason, "fan broken");
    controller[4].is_drained = controller[5].is_drained = controller[7].is_drained = true;
    for (int i = 0; i < NODES; i++) {
        static char reasons[NODES][256], comments[NODES][256];
        struct outcome *outcome = &node_runs[i].outcome;

        snprintf(reasons[i], sizeof reasons[i], "%s", controller[i].reason);
        snprintf(comments[i], sizeof comments[i], "%s", controller[i].comment);
        cluster_nodes[i] = (struct cluster_node){.name = (char *)(size_t)names[i],
                                                 .reason = reasons[i],
                                                 .comment = comments[i],
                                                 .is_drained = controller[i].is_drained};
        by_name[i] = &cluster_nodes[i];
        node_runs[i].name = names[i];
        node_runs[i].slurm = &cluster_nodes[i];
        node_runs[i].plan.role = i == 4 || i == 5 ? ROLE_RETEST : i == 7 ? ROLE_SKIP : ROLE_TEST;
        for (int stage = 0; stage < STAGE_COUNT && i != 3 && i != 7; stage++)
            outcome_note(outcome, (enum stage)stage, VERDICT_PASS, FAULT_NONE, NULL, NULL, NULL);
    }
    outcome_note(&node_runs[1].outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_UPLINKS_MISSING,
                 "net.topology", "", "x");
    outcome_note(&node_runs[1].outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_RAIL_SLOW, "links", "eth1",
                 "x");
    outcome_note(&node_runs[2].outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_UPLINKS_MISSING,
                 "net.topology", "eth1", "x");
    outcome_note(&node_runs[5].outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_RAIL_SLOW, "links", "eth1",
                 "x");
    outcome_note_near(&node_runs[6].outcome, STAGE_LINKS, FAULT_RAIL_SLOW, "links", "eth2", "x");
    outcome_note(&node_runs[8].outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_LINK_DOWN,
                 "net.interfaces", "eth3", "x");
    hostlist_clear(&run.headlines); /* of the previous run */
    run = (struct certify){
        .operations = &operations,
        .run = "run",
        .is_root = true,
        .cluster = {.nodes = cluster_nodes, .node_count = NODES, .by_name = by_name},
        .conf = {.drain_cap_percent = 100.0 * CAP / NODES, .strikes = 3, .strike_window_s = 86400},
        .node_runs = node_runs,
        .count = NODES,
    };
}

/* Returns whether no forbidden change was made. Otherwise *what describes the first one found. */
static bool is_harmless(const char **what)
{
    int taken = 0;

    for (int i = 0; i < NODES; i++) {
        bool may_be_drained = i == 1 || i == 5 || i == 8;

        taken +=
            controller[i].is_drained && strncmp(controller[i].reason, "muster:", 7) == 0 && i != 4;
        *what = controller[i].drains > 0 && !may_be_drained
                    ? "a node is drained that must not be drained"
                : controller[i].drains > 1 ? "a node is drained twice"
                : controller[i].resumes > 0 && i != 4 && i != 5
                    ? "a drain is lifted that muster did not set"
                : controller[i].resumes > 0 &&
                        !(controller[i].is_noted && controller[i].is_marked_before)
                    ? "a drain is lifted that is not in the journal and the Comment"
                : controller[i].is_settled && strstr(controller[i].comment, "[muster") != NULL
                    ? "a node is settled whose Comment still has the mark"
                : controller[i].is_settled && controller[i].resumes == 0
                    ? "a node is settled whose drain was not lifted"
                : controller[i].is_down_noted && !node_runs[i].is_silent
                    ? "a node that answers is to be set down"
                : i == 4 && strstr(notes, "n5 released") && !controller[i].is_settled
                    ? "a node is released by name only"
                : i == 5 && controller[i].is_settled && !controller[i].is_drained
                    ? "a node that failed is settled and in service"
                : strstr(controller[i].reason, "uplinks_missing") != NULL
                    ? "a reason names a fault code that never drains"
                    : NULL;
        if (*what)
            return false;
    }
    *what = strcmp(controller[7].reason, "fan broken") != 0 || !controller[7].is_drained
                ? "an administrator's drain is changed"
            : taken > CAP ? "more nodes are drained than the cap allows"
                          : NULL;
    return !*what;
}

/* Lifts muster's own drains of the listed nodes. Returns 0 or -1. */
static int drains_lift(const char *list)
{
    struct hostlist lifted;
    struct error err;
    int rv;

    hostlist_expand(list, &lifted, NULL);
    rv = certify_drains_lift(&run, &lifted, &err);
    hostlist_clear(&lifted);
    return rv;
}

static void run_all(void)
{
    run_begin();
    if (drains_lift("n[1-10]") == 0) {
        certify_drains_decide(&run);
        certify_drains_release(&run);
    }
}

static void test_healthy_controller(void)
{
    const char *what;
    char expected[1000];

    run_all();
    is_str(is_harmless(&what) ? "" : what, "", "no forbidden change is made");
    ok(controller[1].is_drained &&
           strncmp(controller[1].reason, "muster: rail_slow eth1 x 20", 27) == 0,
       "a node that failed is drained with the code that drains: %s", controller[1].reason);
    is_int(node_runs[2].decision, DECISION_NOTHING,
           "a code that never drains does not drain its node");
    ok(!controller[4].is_drained && controller[4].is_settled && !*controller[4].comment,
       "a node that muster drained and that passed is released");
    ok(controller[5].is_drained && controller[5].is_settled,
       "a node that failed again is drained again");
    is_str(controller[5].comment, "rack 7", "... with its former Comment");
    is_str(controller[5].reason, muster_reason, "... and its former reason, which has the date");
    is_int(node_runs[6].decision, DECISION_SUSPECT, "a value near its limit makes a suspect");
    is_int(counted_fingerprint, 706, "... its strikes are counted for its current fingerprint");
    is_int(node_runs[8].decision, DECISION_OVER_CAP, "the cap spares the next node");
    snprintf(expected, sizeof expected,
             "n7 is a suspect: links x, strike 1 of 3 within 24 h\n"
             "n3 not certified, stays in service: fault code uplinks_missing never drains a node\n"
             "n2 drained: %s\n"
             "n6 stays drained: %s\n"
             "NOT DRAINED: n9 failed too, but muster has drained 2 nodes and may drain at most 2 "
             "of 10 (DrainCap=20%%)\n"
             "n5 released; it was drained: %s\n",
             controller[1].reason, muster_reason, muster_reason);
    is_str(notes, expected, "the notes say what was done and why, and nothing else");
}

/* Without a drain to lift, neither the journal nor a node is changed. */
static void writes_nothing_where_no_drain_is_lifted(void)
{
    run_begin();
    is_int(drains_lift("n[1-4]"), 0, "nodes in service are tested as they are");
    is_int(operation_count, 1, "... their states are read, and no operation follows");
    certify_drains_release(&run);
    is_int(operation_count, 2, "... nor is one needed at the end");
    is_str(notes, "", "... without a note");
}

/* Other runs on this host may not decide meanwhile. A dry run, or a user's, drains nothing. */
static void locks_only_to_drain(void)
{
    for (int i = 0; i < 3; i++) {
        int input = fcntl(STDIN_FILENO, F_GETFD);

        run_begin();
        run.conf.drain_cap_percent = 30;
        run.is_root = i != 1;
        run.options.is_dry_run = i == 2;
        locks = 0;
        certify_drains_decide(&run);
        is_int(locks, i == 0, "%s takes the lock%s",
               i == 0   ? "a run"
               : i == 1 ? "a user's run"
                        : "a dry run",
               i == 0 ? "" : " not");
        is_int(fcntl(STDIN_FILENO, F_GETFD), input, "... and closes no other descriptor");
    }
    is_int(controller[1].drains, 0, "a dry run drains nothing");
    has_str(notes, "n2 would be drained: muster: rail_slow", "... and a note says what it would");
}

/* A drain by muster, but not by this run. */
static void drain_elsewhere(const char *name)
{
    snprintf(controller[index_of(name)].reason, sizeof controller->reason, "%s", muster_reason);
    controller[index_of(name)].is_drained = true;
}

static void drain_n1_and_n10(void)
{
    drain_elsewhere("n1");
    drain_elsewhere("n10");
}

static void drain_n3_and_n4(void)
{
    drain_elsewhere("n3");
    drain_elsewhere("n4");
}

static void other_run_drains_meanwhile(void)
{
    at_lock = drain_n1_and_n10;
    run_all();
    at_lock = NULL;
    ok(!controller[1].is_drained, "a drain by another run during the test counts against the cap");
    is_int(node_runs[1].decision, DECISION_OVER_CAP, "... and spares the next node");
    ok(fcntl(lock, F_GETFD) < 0, "... and the lock is released");
}

/* Two heads count at the same time. Each sees the other's drains only after it has made its own. */
static void another_head_drains_in_the_same_second(void)
{
    slept_s = 0;
    at_drain = drain_n1_and_n10;
    run_all();
    is_int(slept_s, HEALTH_SETTLE_S, "after a drain there is a wait for those of other heads");
    ok(!controller[1].is_drained, "drains that another head made just before are counted again");
    is_int(node_runs[1].decision, DECISION_OVER_CAP, "... and the excess drain is taken back");
    has_str(notes, "NOT DRAINED: n[2,9] failed too, but muster has drained",
            "... and a note says so");
    ok(!strstr(notes, "n2 drained: "), "... and no note says it was drained");
    ok(controller[5].is_drained && controller[5].is_settled,
       "... a node that was drained before stays drained");
    at_drain = drain_n3_and_n4;
    run_all();
    ok(controller[1].is_drained, "if the other head's drains are the excess ones, ours stay");
    has_str(notes, "n2 drained: muster: rail_slow", "... and a note says so");

    run_begin();
    slept_s = 0;
    drains_lift("n[5-6]");
    node_runs[1].outcome = (struct outcome){0};
    node_runs[8].outcome = (struct outcome){0};
    certify_drains_decide(&run);
    is_int(slept_s, 0, "without a new drain there is no wait");

    run_begin();
    drains_lift("n[5-6]");
    snprintf(controller[0].comment, sizeof controller[0].comment, "rack 1 [muster other: %s]",
             muster_reason);
    certify_drains_decide(&run);
    ok(!controller[1].is_drained, "a drain that another head lifted for its test counts, too");
}

/* A health check drains a failed node, n9 or n2, during the test. */
static void keeps_what_a_health_check_drained_meanwhile(void)
{
    run_begin();
    run.conf.drain_cap_percent = 40;
    drains_lift("n[5-6]");
    drain_elsewhere("n9");
    at_drain = drain_n1_and_n10;
    certify_drains_decide(&run);
    is_int(controller[8].resumes, 0, "a drain that existed before is not taken back");
    is_int(node_runs[8].decision, DECISION_DRAIN, "... when another head drains too many");

    run_begin();
    run.conf.drain_cap_percent = 30;
    drains_lift("n[5-6]");
    drain_elsewhere("n2");
    certify_drains_decide(&run);
    ok(controller[1].drains == 1 && controller[8].drains == 1,
       "... and counts against the cap once");
}

static void drains_none_while_another_run_decides(void)
{
    lock_reason = EWOULDBLOCK;
    run_all();
    ok(!controller[1].is_drained, "without the lock nothing is drained");
    is_int(node_runs[1].decision, DECISION_OVER_CAP, "... since the cap may be reached");
    has_str(notes,
            "NOT DRAINED: n[2,9] failed, but another run of this host may be draining nodes "
            "(DrainCap): cannot lock",
            "... and a note says so");
    ok(controller[5].is_drained && controller[5].is_settled,
       "a node that muster drained and that failed is drained again");
    run_begin();
    run.conf.drain_cap_percent = 30;
    node_runs[1].is_silent = true;
    certify_drain_silent(&run);
    ok(!node_runs[1].is_decided, "a silent node is decided later");
    lock_reason = 0;
    certify_drains_decide(&run);
    ok(controller[1].is_drained, "... once the lock is available");
    lock_reason = ENOENT;
    run_all();
    ok(controller[1].is_drained, "a host without a journal directory has no other runs");
    lock_reason = EACCES;
    run_all();
    ok(controller[1].is_drained, "... nor has a host where it cannot be written");
    lock_reason = 0;
}

static void reads_facts_once_for_all_strikes(void)
{
    run_begin();
    outcome_note_near(&node_runs[0].outcome, STAGE_HOST, FAULT_CORE_SLOW, "host.compute", "cpu3",
                      "x");
    fact_loads = 0;
    certify_drains_decide(&run);
    ok(node_runs[0].strike == 1 && node_runs[6].strike == 1, "two nodes are near their limits");
    is_int(fact_loads, 1, "... the nodes' facts are read once");
    is_int(counted_fingerprint, 706, "... each node has its own fingerprint");
    run_begin();
    node_runs[6].outcome = node_runs[0].outcome;
    fact_loads = 0;
    certify_drains_decide(&run);
    is_int(fact_loads, 0, "... and are not read if no node is near a limit");
}

/* n7 is near its limit. n3 is, too, and also has a fault that never drains. */
static void drains_at_the_last_strike(void)
{
    for (strikes = -1; strikes <= 3; strikes += 2) {
        run_begin();
        run.conf.drain_cap_percent = 100;
        outcome_note_near(&node_runs[2].outcome, STAGE_HOST, FAULT_CORE_SLOW, "host.compute",
                          "cpu3", "x");
        certify_drains_decide(&run);
        is_int(node_runs[6].decision, strikes == 3 ? DECISION_DRAIN : DECISION_SUSPECT,
               "strike %d of 3", strikes);
        is_int(node_runs[2].decision, strikes == 3 ? DECISION_DRAIN : DECISION_NOTHING,
               "... also with a fault that never drains");
        is_int(strike_verdict, strikes == 3 ? VERDICT_FAIL : VERDICT_WARN,
               "... is recorded, the last one as a failure");
        is_int(strstr(notes, "n7 is a suspect: links x, strike 1 of 3") != NULL, strikes < 3,
               "... a note names the suspect until then");
        is_int(strstr(notes, "n7: cannot read its strikes: the history is damaged") != NULL,
               strikes < 0, "... a strike that cannot be counted is the first");
    }
    strikes = 1;
}

static bool has_strike;

static void read_strike(void)
{
    has_strike = node_runs[6].strike == 1;
}

/* Counting strikes may wait for a busy history while other runs wait for the lock. */
static void counts_strikes_before_it_has_the_lock(void)
{
    at_lock = read_strike;
    run_all();
    at_lock = NULL;
    ok(has_strike, "strikes are counted before the lock is taken");
}

static void drain_by_admin(int node)
{
    snprintf(controller[node].reason, sizeof controller[node].reason, "DIMM A3, RMA 4711");
    controller[node].is_drained = true;
}

/* An administrator drains a node that fails, one that muster drained before that drain is
 * lifted, and one after. */
static void admin_drains_meanwhile(void)
{
    static const struct {
        bool is_drained;
        const char *reason;
        int drains;
    } by_now[] = {{false, "Not responding", 1}, /* Slurm would return it to service */
                  {true, "Prolog error", 0},
                  {false, "DIMM A3, RMA 4711", 0}};

    run_begin();
    drain_by_admin(4);
    drain_n1_and_n10();
    is_int(drains_lift("n[1-10]"), 0, "drains are lifted");
    ok(controller[0].resumes == 0 && controller[9].resumes == 0,
       "nodes that muster drains elsewhere during the test stay drained");
    controller[0].is_drained = controller[9].is_drained = false;
    ok(controller[4].resumes == 0 && controller[4].is_drained,
       "a drain that is no longer muster's is not lifted");
    is_int(outcome_tested(&node_runs[4].outcome), VERDICT_UNKNOWN, "... and its node is unknown");
    is_str(outcome_worst(&node_runs[4].outcome)->message,
           "left alone: drained by someone else meanwhile: DIMM A3, RMA 4711",
           "... with the reason");
    is_int(controller[5].resumes, 1, "a drain that is still muster's is lifted");
    drain_by_admin(1);
    drain_by_admin(5);
    certify_drains_decide(&run);
    certify_drains_release(&run);
    for (int i = 1; i <= 5; i += 4)
        ok(controller[i].drains == 0 && strcmp(controller[i].reason, "DIMM A3, RMA 4711") == 0,
           "an administrator's drain made during the test stays: %s", controller[i].reason);
    has_str(notes, "n2 left unchanged: drained by someone else meanwhile: DIMM A3, RMA 4711",
            "... and a note says so");
    ok(controller[8].is_drained, "... and does not count against the cap");
    for (size_t i = 0; i < sizeof by_now / sizeof *by_now; i++) {
        run_begin();
        run.conf.drain_cap_percent = 40;
        controller[1].is_drained = by_now[i].is_drained;
        controller[1].is_down = !by_now[i].is_drained;
        snprintf(controller[1].reason, sizeof controller[1].reason, "%s", by_now[i].reason);
        certify_drains_decide(&run);
        is_int(controller[1].drains, by_now[i].drains,
               "a node that is %s with reason \"%s\" at the decision",
               by_now[i].is_drained ? "drained" : "down", by_now[i].reason);
    }
}

/* slurmctld refuses the Comment or the resume of n5. */
static void lifts_the_drains_that_slurm_lets_it(void)
{
    for (n5_refuses = RESUME; n5_refuses <= COMMENT; n5_refuses++) {
        char said[OUTCOME_TEXT];

        run_begin();
        is_int(drains_lift("n[1-10]"), 0, "the run goes on if the %s of a node is refused",
               n5_refuses == RESUME ? "resume" : "Comment");
        ok(controller[4].is_drained && !node_runs[4].is_resumed, "... which stays drained");
        outcome_text(&node_runs[4].outcome, false, said, sizeof said);
        has_str(said, "left alone: n5: refused", "... and is unknown");
        ok(node_runs[5].is_resumed, "... another node's drain is lifted");
    }
    n5_refuses = NONE;
}

/* Before n5's drain is lifted, an administrator requests a reboot, which a resume would cancel, or
 * slurmctld refuses its registration, and would refuse its resume. */
static void lifts_no_drain_against_slurm(void)
{
    for (int i = 0; i < 2; i++) {
        run_begin();
        controller[4].is_absent = i == 0;
        controller[4].is_invalid = i == 1;
        is_int(drains_lift("n[1-10]"), 0, "the run goes on without a node %s",
               i == 0 ? "about to reboot" : "that Slurm refuses");
        ok(controller[4].resumes == 0 && controller[4].is_drained && !controller[4].is_noted,
           "... which stays drained");
        is_int(outcome_tested(&node_runs[4].outcome), VERDICT_UNKNOWN, "... and is unknown");
        is_int(controller[5].resumes, 1, "... while the drain of another one is lifted");
    }
}

/* An administrator named n5, which Slurm drained since its prolog failed. */
static void lifts_a_drain_that_a_gate_may_explain(void)
{
    run_begin();
    for (int i = 0; i < 2; i++)
        snprintf(i == 0 ? controller[4].reason : cluster_nodes[4].reason,
                 sizeof controller[4].reason, "Prolog error");
    node_runs[4].plan.needs_gate_refusal = true;
    is_int(drains_lift("n5"), 0, "a failed prolog's drain, unchanged since the run began");
    is_int(controller[4].resumes, 1, "... is lifted");
    run_begin();
    snprintf(controller[4].reason, sizeof controller[4].reason, "Prolog error");
    is_int(drains_lift("n5"), 0, "a failed prolog's drain in place of muster's");
    is_int(controller[4].resumes, 0, "... is not lifted");
}

/* n6, before its drain is lifted. It then fails with the same fault again. */
static void drains_again_what_an_admin_resumed(void)
{
    run_begin();
    controller[5].is_drained = false;
    controller[5].reason[0] = '\0';
    is_int(drains_lift("n6,n5"), 0, "drains are lifted, one of which no longer exists");
    ok(controller[5].resumes == 0 && controller[4].resumes == 1, "... and the other one is lifted");
    node_runs[1].outcome = node_runs[0].outcome; /* or two nodes would fail alike */
    certify_drains_decide(&run);
    certify_drains_release(&run);
    ok(controller[5].is_drained &&
           strncmp(controller[5].reason, "muster: rail_slow eth1 x 20", 27) == 0,
       "a node that an administrator resumed fails again and is drained: %s", controller[5].reason);
    run_begin();
    controller[5].is_drained = false;
    controller[5].reason[0] = '\0';
    node_runs[5].plan.needs_gate_refusal = true;
    is_int(drains_lift("n6"), 0, "another node is resumed");
    ok(!node_runs[5].plan.needs_gate_refusal, "... and no gate refusal has to explain its drain");
    node_runs[1].outcome = node_runs[0].outcome;
    run.conf.drain_cap_percent = 10; /* n5 alone reaches the cap */
    certify_drains_decide(&run);
    ok(!controller[5].is_drained && node_runs[5].decision == DECISION_OVER_CAP,
       "... and the cap spares it like any node in service");
    run_begin();
    certify_drains_decide(&run);
    is_int(controller[5].drains, 0, "a node that is still drained needs no new drain");
    has_str(notes, "n6 stays drained", "... and a note says so");
}

/* Two drains of muster's own and the first new one reach the cap. */
static void counts_silent_drains_without_slurmctld(void)
{
    char expected[200];

    run_begin();
    run.conf.drain_cap_percent = 30;
    node_runs[1].is_silent = true;
    certify_drain_silent(&run);
    ok(controller[1].is_drained && !controller[8].is_drained, "a silent node is drained first");
    ok(controller[1].is_down_noted, "... and is noted to be set down, as its job does not end");
    snprintf(expected, sizeof expected, "n2 drained: %s\n", controller[1].reason);
    is_str(notes, expected, "... a note says so, and nothing else");
    refused_operation = operation_count + 1;
    certify_drains_decide(&run);
    is_int(node_runs[8].decision, DECISION_OVER_CAP,
           "... and counts even if Slurm then lists no nodes");
    is_int(node_runs[1].decision, DECISION_DRAIN, "... and is not decided a second time");
    refused_operation = 0;
}

/* Nodes that answer are decided about at the end: what they measure may clear them. n7, near its
 * limit, then gets no strike if it has fallen silent before. */
static void drops_only_silent_nodes(void)
{
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[2].is_silent = node_runs[2].is_cut_off = true;
    certify_drain_silent(&run);
    is_int(operation_count, 0, "while all nodes answer, or may be cut off alone, none is dropped");
    node_runs[1].is_silent = node_runs[6].is_silent = true;
    for (int i = 0; i < 2; i++)
        certify_drain_silent(&run);
    for (int i = 0; i < NODES; i++)
        is_int(node_runs[i].is_decided, i == 1 || i == 6, "%s %s", names[i],
               i == 1 || i == 6 ? "is silent and decided about" : "is decided about later");
    is_int(controller[1].drains, 1, "a silent node is drained once");
    certify_drains_decide(&run);
    is_int(node_runs[6].strike, 0, "a node that is decided about gets no strike");
}

static void counts_no_node_that_passes(void)
{
    run_begin();
    node_runs[5].outcome = node_runs[0].outcome;
    drains_lift("n[1-10]");
    certify_drains_decide(&run);
    ok(controller[1].is_drained && controller[8].is_drained,
       "nodes that passed leave room in the cap for failed ones");
}

static void check_headline(const char *expected)
{
    is_int(run.headlines.count, 1, "... a single headline is made");
    is_str(run.headlines.count > 0 ? run.headlines.names[0] : "", expected, "... it says so");
}

static void drains_none_that_fail_alike(void)
{
    run_begin();
    outcome_note(&node_runs[2].outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_RAIL_SLOW, "links", "eth1",
                 "x");
    /* these nodes did not reach the links stage */
    node_runs[6].outcome = node_runs[9].outcome = node_runs[8].outcome;
    certify_drains_decide(&run);
    is_int(node_runs[1].decision, DECISION_NOTHING,
           "the same fault on two of four measured nodes drains none");
    run_begin();
    run.count = 6;
    run.conf.drain_cap_percent = 100;
    outcome_note(&node_runs[4].outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_RAIL_SLOW, "links", "eth1",
                 "x");
    certify_drains_decide(&run);
    is_int(node_runs[1].decision, DECISION_DRAIN,
           "nodes that muster drained before for this fault do not count as alike");
}

/* Ranks died, hung or fell silent. One cause can have many codes. */
static void drains_none_with_alike_process_faults(void)
{
    static const struct {
        int node;
        enum fault_code code;
        const char *part;
    } faults[] = {{1, FAULT_PROCESS_DIED, "rank 1"},
                  {2, FAULT_PROCESS_HUNG, "rank 2"},
                  {6, FAULT_NODE_FROZEN, "rank 6"},
                  {9, FAULT_TEST_FAILED, "rank 9"}};

    run_begin();
    run.conf.drain_cap_percent = 100;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct outcome *outcome = &node_runs[faults[i].node].outcome;

        *outcome = node_runs[0].outcome;
        outcome_note(outcome, STAGE_COLLECTIVES, VERDICT_FAIL, faults[i].code, "x", faults[i].part,
                     "x");
    }
    outcome_note(&node_runs[1].outcome, STAGE_COLLECTIVES, VERDICT_FAIL, FAULT_PROCESS_HUNG, "x",
                 "rank 11", "x");
    certify_drains_decide(&run);
    check_headline("3 of 6 nodes fail alike in collectives: x rank 1: x; suspect the network, this "
                   "host or the configuration; no node drained: n[2-3,7]");
    for (int i = 0; i < 3; i++)
        is_int(node_runs[faults[i].node].decision, DECISION_NOTHING,
               "a process fault that three nodes share drains none");
    is_int(node_runs[9].decision, DECISION_DRAIN, "... another fault drains its node");
}

/* This host does not reach the node any more. is_missed: slurmctld has noticed it, too. */
static void set_silent(int i, bool is_missed)
{
    outcome_note(&node_runs[i].outcome, STAGE_LINKS, is_missed ? VERDICT_FAIL : VERDICT_UNKNOWN,
                 FAULT_NODE_UNREACHABLE, "workers.enumerate", "network", "x");
    node_runs[i].is_silent = true;
    node_runs[i].is_cut_off = !is_missed;
}

/* n1, n7 and n10 are connected to one switch. */
static void fails_none_of_an_outage_that_slurmctld_notices_piece_by_piece(void)
{
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[6].outcome = node_runs[0].outcome;
    set_silent(0, true);
    set_silent(6, false);
    set_silent(9, false);
    certify_drain_silent(&run);
    is_int(controller[0].drains, 0,
           "one of three nodes cut off together is missed: it is not drained");
    is_int(outcome_tested(&node_runs[0].outcome), VERDICT_UNKNOWN, "... it is unknown");
    set_silent(6, true);
    certify_drains_decide(&run);
    is_int(controller[6].drains, 0, "... nor is the next one drained");
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[6].outcome = node_runs[0].outcome;
    set_silent(0, true);
    set_silent(6, false);
    certify_drain_silent(&run);
    is_int(controller[0].drains, 1, "with only two cut off, the missed one is drained");
    is_int(controller[6].drains, 0, "... the other one is not");
    set_silent(6, true);
    set_silent(9, true);
    certify_drains_decide(&run);
    is_int(outcome_tested(&node_runs[0].outcome), VERDICT_FAIL,
           "... and stays failed when more nodes follow");
    ok(controller[6].drains == 0 && controller[9].drains == 0, "... none of which is drained");
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[6].outcome = node_runs[0].outcome;
    set_silent(0, true);
    set_silent(6, false);
    set_silent(9, false);
    node_runs[6].is_cut_off = node_runs[9].is_cut_off = false; /* n7 and n10 answer again */
    certify_drains_decide(&run);
    is_int(controller[0].drains, 1, "nodes that answer again excuse no other");
}

static void set_fault_on_leaf(int i, int leaf, enum fault_code code, const char *part)
{
    node_runs[i].outcome = node_runs[0].outcome;
    cluster_nodes[i].leaf = leaf;
    outcome_note(&node_runs[i].outcome, STAGE_CHECK, VERDICT_FAIL, code, "x", part, "x");
}

/* The leaf switch of n2, n3 and n4 disconnects two of them, a small part of all nodes. n9 and
 * n10 on another leaf lose a GPU each, which no switch can cause. */
static void fails_none_of_a_leaf_whose_switch_is_down(void)
{
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[2].outcome = node_runs[6].outcome = node_runs[0].outcome;
    set_fault_on_leaf(1, 1, FAULT_LINK_DOWN, "eth1");
    cluster_nodes[2].leaf = 1;
    set_fault_on_leaf(3, 1, FAULT_LINK_DOWN, "eth1");
    set_fault_on_leaf(8, 2, FAULT_GPU_LOST, "gpu3");
    set_fault_on_leaf(9, 2, FAULT_GPU_LOST, "gpu3");
    certify_drains_decide(&run);
    ok(controller[1].drains == 0 && controller[3].drains == 0,
       "a fault that a leaf switch can cause drains no node");
    is_int(outcome_tested(&node_runs[1].outcome), VERDICT_UNKNOWN, "... its nodes are unknown");
    check_headline("2 of 7 nodes fail alike in check: x eth1: x; suspect the network, this host or "
                   "the configuration; no node drained: n[2,4]");
    ok(controller[8].drains == 1 && controller[9].drains == 1,
       "a fault that a switch cannot cause drains its nodes");
    run_begin();
    run.conf.drain_cap_percent = 100;
    node_runs[2].outcome = node_runs[6].outcome = node_runs[8].outcome = node_runs[0].outcome;
    set_fault_on_leaf(1, 1, FAULT_LINK_DOWN, "eth1");
    cluster_nodes[2].leaf = 1;
    set_fault_on_leaf(3, 1, FAULT_LINK_DOWN, "eth1");
    outcome_note(&node_runs[1].outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_LINK_DOWN, "x", "eth2",
                 "x");
    certify_drains_decide(&run);
    ok(controller[1].drains == 1 && controller[3].drains == 0,
       "another link that one of them lacks drains it");
    ok(strncmp(controller[1].reason, "muster: link_down eth2 x 20", 27) == 0,
       "... for that link alone: %s", controller[1].reason);
}

/* Refuses each operation alone, or with all that follow. */
static void test_refusals(bool all)
{
    int last = OPERATIONS_MOST, unreported = 0;
    const char *what = NULL;

    refuses_all = all;
    for (refused_operation = 1; refused_operation <= last && !what; refused_operation++) {
        run_all();
        if (operation_count < refused_operation)
            break;
        if (!is_harmless(&what))
            tap_diag("operation %d: %s\n%s", refused_operation, what, notes);
        unreported += controller[1].drains == 0 && node_runs[1].is_decided &&
                      !strstr(notes, "refused") && !strstr(notes, "NOT DRAINED: n[2,9] failed too");
    }
    ok(!what && refused_operation > 8 && refused_operation < last,
       "each of %d operations is refused%s, and no forbidden change is made", refused_operation - 1,
       all ? " with all that follow" : "");
    is_int(unreported, 0, "... a node that could not be drained is reported");
}

int main(void)
{
    test_healthy_controller();
    writes_nothing_where_no_drain_is_lifted();
    locks_only_to_drain();
    lifts_a_drain_that_a_gate_may_explain();
    other_run_drains_meanwhile();
    another_head_drains_in_the_same_second();
    keeps_what_a_health_check_drained_meanwhile();
    drains_none_while_another_run_decides();
    reads_facts_once_for_all_strikes();
    drains_at_the_last_strike();
    counts_strikes_before_it_has_the_lock();
    admin_drains_meanwhile();
    lifts_the_drains_that_slurm_lets_it();
    lifts_no_drain_against_slurm();
    drains_again_what_an_admin_resumed();
    counts_silent_drains_without_slurmctld();
    drops_only_silent_nodes();
    counts_no_node_that_passes();
    drains_none_that_fail_alike();
    drains_none_with_alike_process_faults();
    fails_none_of_an_outage_that_slurmctld_notices_piece_by_piece();
    fails_none_of_a_leaf_whose_switch_is_down();
    test_refusals(false);
    test_refusals(true);
    return tap_done();
}
