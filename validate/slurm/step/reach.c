/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/seal.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/process.h"

#include <slurm/slurmdb.h> /* after release.h, which says how slurm.h is to be read */

enum { DEFAULT_PORT = 6818 };

const struct reach_kind *reach_kind(enum reach_state state)
{
    static const struct reach_kind kinds[] = {
        [REACH_NO_SLURMD] = {"slurmd", FAULT_NODE_UNREACHABLE, true, true},
        [REACH_NO_MUNGE] = {"munge", FAULT_MUNGE_FAILED, true, false},
        [REACH_FROZEN] = {"node", FAULT_NODE_FROZEN, true, false},
        [REACH_CUT_OFF] = {"network", FAULT_NODE_UNREACHABLE, true, true},
        [REACH_FAILED] = {"", FAULT_NODE_UNREACHABLE, false, false},
    };

    return &kinds[kinds[state].part ? state : REACH_FAILED];
}

/* What a child reports: that it has the address, that the host accepted its connection, the result.
 */
enum report_kind { REPORT_RESOLVED = 'r', REPORT_CONNECTED = 'c', REPORT_END = 'e' };

struct child_report {
    enum report_kind kind;
    double at; /* clock_s() */
    enum reach_state state;
    int reason; /* errno, or Slurm's */
};

static void report_send(int fd, enum report_kind kind, enum reach_state state, int reason)
{
    struct child_report report = {kind, clock_s(), state, reason};

    if (write(fd, &report, sizeof report) != (ssize_t)sizeof report)
        _exit(1);
}

/* Connects to the host's port and hangs up. Returns 0 or an errno; -1 when the name is unknown. */
static int connect_to(const struct cluster_node *node, int report_fd)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[16];
    int reason = ETIMEDOUT, fd;

    snprintf(port, sizeof port, "%u", node->port ? node->port : DEFAULT_PORT);
    if (getaddrinfo(node->address, port, &hints, &found) != 0 || !found)
        return -1;
    report_send(report_fd, REPORT_RESOLVED, REACH_NOT_QUERIED, 0);
    for (const struct addrinfo *address = found; address; address = address->ai_next) {
        fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
        reason = fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
        if (fd >= 0)
            close(fd);
        if (reason == 0)
            break;
    }
    freeaddrinfo(found);
    return reason;
}

uint32_t slurmdb_setup_cluster_flags(void); /* of libslurm, in none of its headers */

/* Makes libslurm query the slurmd of SLURMD_NODENAME. Without --enable-multiple-slurmd (SchedMD's
 * packages; Debian's have it), libslurm queries the local slurmd, unless a cluster record has this
 * flag. The record has the library's protocol version. It names no controller: libslurm must locate
 * nodes without one. */
static void multiple_slurmd_enable(void)
{
    static slurmdb_cluster_rec_t cluster;

    if (slurmdb_setup_cluster_flags() & CLUSTER_FLAG_MULTSD)
        return;
    cluster.flags = CLUSTER_FLAG_MULTSD;
    cluster.rpc_version = (uint16_t)(slurm_api_version() >> 16 << 8);
    working_cluster_rec = &cluster;
}

/* Queries the node and reports each step. */
static void query_node(const struct cluster_node *node, int fd)
{
    slurmd_status_t *status = NULL; /* freed when the child exits */
    enum reach_state state = REACH_FAILED;
    int reason = connect_to(node, fd);

    if (reason != 0) {
        report_send(fd, REPORT_END,
                    reason == -1             ? REACH_NO_ADDRESS
                    : reason == ECONNREFUSED ? REACH_NO_SLURMD
                    : reason == ENETUNREACH  ? REACH_NO_ROUTE
                    : reason == ETIMEDOUT || reason == EHOSTUNREACH || reason == EHOSTDOWN
                        ? REACH_CUT_OFF
                        : REACH_FAILED,
                    reason);
        return;
    }
    report_send(fd, REPORT_CONNECTED, REACH_NOT_QUERIED, 0);
    /* libslurm finds a node in slurm.conf, but a cloud node in the controller */
    if (node->is_older || node->is_dynamic || (working_cluster_rec && node->is_cloud)) {
        report_send(fd, REPORT_END, REACH_ANSWERS, ENOTSUP);
        return;
    }
    setenv("SLURMD_NODENAME", node->name, 1);
    if (slurm_load_slurmd_status(&status) == SLURM_SUCCESS && status) {
        report_send(fd, REPORT_END, REACH_ANSWERS, 0);
        return;
    }
    reason = errno;
    switch (reason) {
    case ECONNREFUSED:
        state = REACH_NO_SLURMD;
        break;
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT: /* slurmd hangs up on what it cannot decode */
    case SLURM_PROTOCOL_AUTHENTICATION_ERROR:
    case ESLURM_AUTH_CRED_INVALID:
        state = REACH_NO_MUNGE;
        break;
    case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
    case ETIMEDOUT:
        state = REACH_FROZEN;
    }
    report_send(fd, REPORT_END, state, reason);
}

/* A round of queries: a few children run in parallel, and each queries a share of the nodes. One
 * child per node would copy the page tables of a large process thousands of times. */
struct round {
    struct cluster_node *const *nodes;
    const size_t *wanted; /* their indexes */
    size_t count;         /* of these */
    size_t children;      /* number of children: child i queries nodes i, i + children, ... */
};

static void __attribute__((noreturn))
share_query(const struct round *round, size_t first, pid_t parent, int fd)
{
    int quiet = open("/dev/null", O_WRONLY);

    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    dup2(quiet, 2); /* hide libslurm's messages: ours are clearer */
    multiple_slurmd_enable();
    for (size_t index = first; index < round->count; index += round->children)
        query_node(round->nodes[round->wanted[index]], fd);
    _exit(0);
}

/* A child, and the node that it queries now. */
struct child {
    size_t index; /* in round->wanted; round->count or more: its share is done */
    pid_t pid;
    int fd;
    double begin; /* clock_s() of the query's begin; later, of the name's resolution */
    bool is_resolved, is_connected;
    bool is_lost; /* the child hangs or has ended */
};

static void answer_set(struct reach *answer, enum reach_state state, int reason, double seconds)
{
    char *text = answer->message;
    size_t size = sizeof answer->message;

    answer->state = state;
    answer->seconds = seconds;
    switch (state) {
    case REACH_ANSWERS:
        snprintf(text, size,
                 reason
                     ? "slurmd accepts connections (%.0f ms); this libslurm cannot query it further"
                     : "slurmd answers in %.0f ms",
                 1e3 * seconds);
        break;
    case REACH_NO_SLURMD:
        snprintf(text, size, "slurmd is not running (connection refused); start it");
        break;
    case REACH_NO_MUNGE:
        snprintf(text, size,
                 "slurmd refuses our MUNGE credential: compare munge.key, munged and the clock");
        break;
    case REACH_FROZEN:
        snprintf(text, size,
                 "the host accepts connections, but slurmd has not answered for %.0f s: frozen",
                 seconds);
        break;
    case REACH_CUT_OFF:
        snprintf(text, size, "no answer from the host (%s): power, cable, switch port",
                 reason > 0 ? strerror(reason) : "connection timed out");
        break;
    case REACH_NO_ADDRESS:
        snprintf(text, size,
                 "its name does not resolve on this host: check /etc/hosts and DNS here");
        break;
    case REACH_NO_ROUTE:
        snprintf(text, size, "this host has no route to it (%s): check the network here",
                 strerror(reason));
        break;
    default:
        snprintf(text, size, "cannot tell: %s", slurm_strerror(reason));
    }
}

static void next_node_begin(struct child *child, const struct round *round, double at)
{
    child->index += round->children;
    child->begin = at;
    child->is_resolved = child->is_connected = false;
}

/* Reads the child's reports. A child that hangs on a node is abandoned. */
static void child_read(struct child *child, const struct round *round, double deadline_s,
                       struct reach *answers)
{
    struct child_report report;
    struct reach *answer;
    double seconds;
    ssize_t got;

    while ((got = read(child->fd, &report, sizeof report)) == (ssize_t)sizeof report) {
        child->is_resolved |= report.kind == REPORT_RESOLVED;
        child->is_connected |= report.kind == REPORT_CONNECTED;
        if (report.kind == REPORT_RESOLVED)
            child->begin = report.at;
        if (report.kind != REPORT_END)
            continue;
        answer_set(&answers[round->wanted[child->index]], report.state, report.reason,
                   report.at - child->begin);
        next_node_begin(child, round, report.at);
        if (child->index >= round->count)
            return;
    }
    seconds = clock_s() - child->begin;
    if (got < 0 && seconds < deadline_s) /* EAGAIN, EINTR */
        return;
    answer = &answers[round->wanted[child->index]];
    if (seconds >= deadline_s) {
        answer_set(answer,
                   child->is_connected  ? REACH_FROZEN
                   : child->is_resolved ? REACH_CUT_OFF
                                        : REACH_NO_ADDRESS,
                   0, seconds);
    } else {
        answer_set(answer, REACH_FAILED, 0, seconds);
        snprintf(answer->message, sizeof answer->message, "cannot tell: the request was lost");
    }
    child->is_lost = true;
    next_node_begin(child, round, clock_s());
}

/* Starts a child for the node at child->index and the later nodes of its share. Returns 0, or -1
 * with err. */
static int child_start(struct child *child, const struct round *round, struct error *err)
{
    const struct cluster_node *node = round->nodes[round->wanted[child->index]];
    int pair[2];
    pid_t parent = getpid();

    if (pipe2(pair, O_CLOEXEC) != 0)
        return error_set(err, "cannot query %s: %m", node->name);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    child->begin = clock_s();
    child->pid = fork();
    if (child->pid == 0)
        share_query(round, child->index, parent, pair[1]);
    close(pair[1]);
    if (child->pid < 0) {
        close(pair[0]);
        return error_set(err, "cannot query %s: %m", node->name);
    }
    child->fd = pair[0];
    child->is_resolved = child->is_connected = child->is_lost = false;
    return 0;
}

static void child_reap(struct child *child)
{
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(child->fd);
}

/* Queries the nodes of the round by REACH_AT_ONCE children at most. */
static int children_run(const struct round *round, double deadline_s,
                        const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    struct child children[REACH_AT_ONCE];
    size_t running = 0;
    int rv = 0;

    fflush(NULL);
    while (rv == 0 && running < round->children) {
        children[running] = (struct child){.index = running};
        rv = child_start(&children[running], round, err);
        running += rv == 0;
    }
    while (running > 0 && rv == 0 && !(stop && *stop)) {
        struct pollfd polled[REACH_AT_ONCE];

        for (size_t i = 0; i < running; i++)
            polled[i] = (struct pollfd){.fd = children[i].fd, .events = POLLIN};
        poll(polled, running, 50);
        for (size_t i = 0; i < running;) {
            if (polled[i].revents || clock_s() - children[i].begin >= deadline_s)
                child_read(&children[i], round, deadline_s, answers);
            if (!children[i].is_lost && children[i].index < round->count) {
                i++;
                continue;
            }
            child_reap(&children[i]);
            if (children[i].index < round->count && rv == 0 &&
                (rv = child_start(&children[i], round, err)) == 0) {
                i++;
                continue;
            }
            running--;
            children[i] = children[running];
            polled[i] = polled[running];
        }
    }
    for (size_t i = 0; i < running; i++)
        child_reap(&children[i]);
    return rv;
}

/* Queries the nodes that are wanted. */
static int round_run(struct cluster_node *const *nodes, size_t count, const bool *is_wanted,
                     double deadline_s, const volatile sig_atomic_t *stop, struct reach *answers,
                     struct error *err)
{
    size_t *wanted = calloc(count + 1, sizeof *wanted);
    struct round round = {.nodes = nodes, .wanted = wanted};
    int rv;

    if (!wanted)
        return error_set(err, "out of memory, cannot query %zu nodes", count);
    for (size_t i = 0; i < count; i++)
        if (is_wanted[i])
            wanted[round.count++] = i;
    round.children = round.count < REACH_AT_ONCE ? round.count : REACH_AT_ONCE;
    rv = children_run(&round, deadline_s, stop, answers, err);
    free(wanted);
    return rv;
}

/* Returns whether the local MUNGE may cause the state: libslurm sends nothing while it waits for
 * MUNGE. */
static bool may_be_local_munge(const struct reach *answer)
{
    return answer->state == REACH_NO_MUNGE || answer->state == REACH_FROZEN;
}

/* Returns whether some answers are useless because the local MUNGE cannot create or read a
 * credential. */
static bool is_local_munge_broken(const struct reach *answers, size_t count, struct error *err)
{
    static const char text[] = "muster";
    char *seal = NULL;
    bool is_any = false, is_good;

    for (size_t i = 0; i < count; i++)
        is_any |= may_be_local_munge(&answers[i]);
    if (!is_any)
        return false;
    is_good = seal_make(text, strlen(text), &seal, err) == 0 &&
              seal_verify_by(geteuid(), seal, text, strlen(text), err) == SEAL_GENUINE;
    free(seal);
    return !is_good;
}

/* Sets these answers to unknown: they prove nothing about the nodes. */
static void local_munge_report(struct reach *answers, size_t count, const struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (may_be_local_munge(&answers[i])) {
            answers[i].state = REACH_FAILED;
            text_put(answers[i].message, sizeof answers[i].message,
                     "cannot tell: MUNGE does not work on this host: %s", err->text);
        }
}

int reach_nodes(struct cluster_node *const *nodes, size_t count, double deadline_s,
                const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    bool *is_wanted = calloc(count + 1, sizeof *is_wanted), is_any = false, is_refused = false,
         is_munge_broken;
    struct error why = {""};
    int rv;

    if (!is_wanted)
        return error_set(err, "out of memory, cannot query %zu nodes", count);
    for (size_t i = 0; i < count; i++) {
        answers[i] = (struct reach){.state = REACH_NOT_QUERIED, .message = "not queried"};
        is_wanted[i] = true;
    }
    rv = round_run(nodes, count, is_wanted, deadline_s, stop, answers, err);
    for (size_t i = 0; i < count; i++) {
        is_wanted[i] = answers[i].state != REACH_NOT_QUERIED && answers[i].state != REACH_ANSWERS;
        is_any |= is_wanted[i];
        is_refused |= answers[i].state == REACH_NO_SLURMD;
    }
    for (int i = 0; i < 20 * REACH_RESTART_S && is_refused && !(stop && *stop); i++)
        usleep(50000);
    is_munge_broken = is_local_munge_broken(answers, count, &why);
    if (rv == 0 && is_any && !(stop && *stop))
        rv = round_run(nodes, count, is_wanted, 2 * deadline_s, stop, answers, err);
    /* a munged that restarts meanwhile may be too late for queries that waited */
    if (is_local_munge_broken(answers, count, &why) || is_munge_broken)
        local_munge_report(answers, count, &why);
    free(is_wanted);
    return rv;
}
