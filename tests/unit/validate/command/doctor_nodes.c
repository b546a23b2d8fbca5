/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/base/record.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/validate/command/made_cluster.h"
#include "validate/command/doctor/doctor.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/step/process.h"
#include "validate/slurm/step/reach.h"

/* Tests muster doctor on four nodes: how it asks them, and what it reports on Slurm's health
 * check. */

static const char *busy_node = ""; /* the node that starts no job */
static char partitions[200];       /* that were asked for a job, each followed by a blank */
static double reach_s;             /* the time that slurmd was given to answer */

int __wrap_reach_nodes(struct cluster_node *const *nodes, size_t count, double deadline_s,
                       const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    reach_s = deadline_s;
    for (size_t i = 0; i < count; i++)
        answers[i] = (struct reach){.state = REACH_ANSWERS};
    return 0;
}

int __wrap_step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err)
{
    *result = (struct process_result){.end = PROCESS_EXITED};
    text_join(partitions, sizeof partitions, "", "%s ", partition ? partition : "-");
    if (hostlist_contains(nodes, busy_node))
        return error_set(err, "Slurm would preempt a job there");
    for (size_t i = 0; i < nodes->count; i++) {
        char text[300];

        snprintf(text, sizeof text,
                 "%zu: {\"host\":\"%s\",\"precondition\":\"version\",\"state\":\"pass\","
                 "\"found\":\"muster 1\",\"time\":%.3f}",
                 i, nodes->names[i], record_now_s());
        watching->on_line(text, false, watching->context);
    }
    return 0;
}

/* Returns the finding with that name for a node: "pass a job ran ...", or "none". */
static const char *found_of(const struct findings *findings, const char *node, const char *name)
{
    static char text[DOCTOR_FOUND + 16];

    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].host, node) == 0 &&
            strcmp(findings->items[i].name, name) == 0) {
            snprintf(text, sizeof text, "%s %s", verdict_name(findings->items[i].verdict),
                     findings->items[i].found);
            return text;
        }
    return "none";
}

static void queries_each_node_in_its_partition(void)
{
    static const char answered[] = "pass a job ran and reported its findings";
    struct findings findings = {0};
    struct error err;
    size_t count;

    doctor_cluster(NULL, &findings, &err);
    is_str(partitions, "lab ", "one job asks all nodes of a partition");
    is_int((int)reach_s, DOCTOR_REACH_S, "... after their slurmd, which has some time to answer");
    is_str(found_of(&findings, "n4", "answer"), answered, "... which report");
    doctor_clear(&findings);
    made_hides_cloud = true;
    is_int(doctor_cluster(NULL, &findings, &err), 0, "a node that Slurm does not list is left out");
    is_str(found_of(&findings, "n4", "answer"), answered, "... and the others report");
    doctor_clear(&findings);
    made_hides_cloud = false;
    made_is_divided = true;
    partitions[0] = '\0';
    doctor_cluster(NULL, &findings, &err);
    is_str(partitions, "lab other ", "without a default partition each partition is asked");
    is_str(found_of(&findings, "n4", "answer"), answered, "... for its nodes");
    doctor_clear(&findings);
    busy_node = "n2";
    doctor_cluster("n[2-4]", &findings, &err);
    is_str(found_of(&findings, "n2", "answer"),
           "unknown a job on it reported nothing: Slurm would preempt a job there",
           "a node where no job starts is unknown, with the reason");
    is_str(found_of(&findings, "n3", "answer"), answered, "... and the other nodes report");
    doctor_clear(&findings);
    busy_node = "";
    doctor_cluster("n[2-3]", &findings, &err);
    count = findings.count;
    doctor_clear(&findings);
    doctor_cluster("n2,n[2-3]", &findings, &err);
    is_int((long long)findings.count, (long long)count, "a node that is named twice is asked once");
    doctor_clear(&findings);
    is_int(doctor_cluster("n[1-9]", &findings, &err), -1, "unknown nodes are refused");
    has_str(err.text, "no node n5", "... with a name");
    doctor_clear(&findings);
}

static void warns_of_an_extra_that_is_no_json(void)
{
    struct findings findings = {0};
    struct error err;

    made_extra = "{\"rack\":7}";
    doctor_cluster("n1", &findings, &err);
    is_str(found_of(&findings, "n1", "extra"), "none",
           "an Extra that is a JSON object has no finding");
    doctor_clear(&findings);
    made_extra = "rack 7";
    doctor_cluster("n1", &findings, &err);
    is_str(found_of(&findings, "n1", "extra"),
           "warn Extra is not a JSON object: its faults and certificate are not published, and its "
           "gate gets no permission to refuse jobs",
           "... any other Extra gets a warning");
    doctor_clear(&findings);
    made_extra = "";
}

static void check_health_precondition(const char *first, const char *second, const char *expected,
                                      const char *what)
{
    char program[] = "HealthCheckProgram=/x/muster-healthcheck", texts[2][64];
    struct slurm_line lines[3] = {
        {"slurm.conf", 1, program}, {"slurm.conf", 2, texts[0]}, {"slurm.conf", 3, texts[1]}};
    struct doctor_site site = {.root = "", .slurm = {.lines = lines, .count = 3}};
    char found[DOCTOR_FOUND] = "", text[DOCTOR_FOUND + 16];
    enum verdict verdict;

    snprintf(texts[0], sizeof texts[0], "%s", first);
    snprintf(texts[1], sizeof texts[1], "%s", second);
    verdict = precondition_find("health")->check(&site, found);
    snprintf(text, sizeof text, "%s %s", verdict_name(verdict), found);
    is_str(text, expected, "%s", what);
}

static bool has_munge;

int __wrap_seal_make(const char *text, size_t length, char **seal, struct error *err)
{
    *seal = NULL;
    return has_munge ? 0 : error_set(err, "munged is not running");
}

/* Certificates need MUNGE even if Slurm uses its own authentication. */
static void certificates_need_munge(void)
{
    char path[] = "/tmp/muster-doctor-XXXXXX", found[DOCTOR_FOUND] = "";
    const struct conf conf = {.munge_socket = ""};
    struct doctor_site site = {.root = "", .conf = &conf};
    int fd = mkstemp(path);

    dprintf(fd, "AuthType=auth/slurm\n");
    close(fd);
    setenv("SLURM_CONF", path, 1);
    is_int(precondition_find("munge")->check(&site, found), VERDICT_WARN,
           "with auth/slurm a missing munged gets a warning");
    is_str(found,
           "Slurm authenticates with auth/slurm; certificates are sealed by MUNGE, which does not "
           "answer: munged is not running",
           "... with the reason why it is needed");
    has_munge = true;
    found[0] = '\0';
    is_int(precondition_find("munge")->check(&site, found), VERDICT_PASS,
           "... a running munged passes");
    unsetenv("SLURM_CONF");
    unlink(path);
}

static const char *const *offered; /* what muster-links --transports prints; NULL: it fails */
static char program_user[16];      /* that it was run as */

int __wrap_user_find(const char *name, struct user *user, struct error *err)
{
    (void)err;
    *user = (struct user){.uid = 7711};
    snprintf(user->name, sizeof user->name, "%s", name);
    return 0;
}

int __wrap_process_run(const struct process *process, struct process_result *result,
                       struct error *err)
{
    (void)err;
    *result = (struct process_result){.end = PROCESS_EXITED, .status = offered ? 0 : 3};
    snprintf(result->error_line.text, sizeof result->error_line.text, "UCX: no memory");
    snprintf(program_user, sizeof program_user, "%s", process->user ? process->user->name : "-");
    for (size_t i = 0; offered && offered[i]; i++)
        process->on_line(offered[i], false, process->context);
    return 0;
}

/* A RoCE port and two Ethernet interfaces, of which the second has no cable. */
static void looks_for_transports(void)
{
    static const char *const all[] = {"self/memory0",     "tcp/lo",      "tcp/eth1",
                                      "rc_mlx5/mlx5_0:1", "tcp/roce0",   "tcp/eth11",
                                      "ud_mlx5/mlx5_0:1", "sysv/memory", NULL},
                             *const no_verbs[] = {"tcp/eth1", "tcp/roce0", NULL};
    static struct conf conf = {.battery_user = "muster"};
    static struct nic nics[] = {{.name = "eth1", .has_carrier = true, .is_up = true},
                                {.name = "eth2"},
                                {.name = "roce0", .has_carrier = true, .is_up = true}};
    static struct rdma_port port = {.state = "ACTIVE"};
    static struct fabric fabric = {
        .rail_count = 3,
        .rails = {{.name = "eth1", .nic = &nics[0], .class = FABRIC_ETHERNET},
                  {.name = "eth2", .nic = &nics[1], .class = FABRIC_ETHERNET},
                  {.name = "mlx5_0:1", .nic = &nics[2], .port = &port, .class = FABRIC_ROCE_V2}}};
    struct doctor_site site = {.root = "", .conf = &conf, .fabric = &fabric};
    char found[DOCTOR_FOUND] = "";

    offered = all;
    is_int(doctor_look_transports(&site, found), VERDICT_PASS, "UCX has what the rails need");
    is_str(found, "tcp on eth1, rc_mlx5 ud_mlx5 on mlx5_0:1", "... its transports are listed");
    is_str(program_user, geteuid() == 0 ? "muster" : "-", "... by the user of the battery");
    offered = no_verbs;
    found[0] = '\0';
    is_int(doctor_look_transports(&site, found), VERDICT_FAIL, "without verbs for a RoCE port");
    is_str(found, "UCX has no transport for mlx5_0:1 (RoCE v2)", "... the port is named");
    offered = NULL;
    is_int(doctor_look_transports(&site, found), VERDICT_UNKNOWN, "a program that fails");
    is_str(found, "muster-links --transports failed: UCX: no memory", "... is no fault of UCX");
    fabric.rails[2] =
        (struct rail){.name = "rdmap16s27:1", .port = &port, .class = FABRIC_EFA, .gid_index = -1};
    offered = no_verbs;
    found[0] = '\0';
    is_int(doctor_look_transports(&site, found), VERDICT_PASS,
           "an EFA port, for which UCX has no module that could be installed");
    is_str(found, "tcp on eth1; not measured, as UCX is not for it: rdmap16s27:1 (EFA)",
           "... is named as not measured");
    fabric.rails[0].nic = &nics[1];
    found[0] = '\0';
    is_int(doctor_look_transports(&site, found), VERDICT_SKIP,
           "... alone there is nothing to test");
}

static int connect_errno[2]; /* of the IPv4 address of the next node, and of the IPv6 one */
static bool has_sockets[2];
static int connections;
static double connect_s; /* their time limits in all */

static int of_address(int family)
{
    return family == AF_INET6;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    static struct sockaddr ends[2] = {{.sa_family = AF_INET}, {.sa_family = AF_INET6}};
    static struct addrinfo found[2] = {
        {.ai_family = AF_INET, .ai_addr = &ends[0], .ai_next = &found[1]},
        {.ai_family = AF_INET6, .ai_addr = &ends[1]}};

    (void)service, (void)hints;
    *addresses = found;
    return strcmp(node, "n2") == 0 ? 0 : EAI_NONAME;
}

void __wrap_freeaddrinfo(struct addrinfo *addresses)
{
    (void)addresses;
}

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
    if (has_sockets[of_address(family)])
        return __real_socket(family, type, protocol);
    errno = EAFNOSUPPORT;
    return -1;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    struct timeval limit = {0};
    socklen_t size = sizeof limit;

    (void)length;
    getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
    connections++;
    connect_s += (double)limit.tv_sec + 1e-6 * (double)limit.tv_usec;
    errno = connect_errno[of_address(address->sa_family)];
    return errno ? -1 : 0;
}

/* What connecting to the next node ends with, and the verdict. */
static void looks_for_ports(void)
{
    static const struct {
        int reason[2];
        bool has_sockets[2];
        enum verdict verdict;
        const char *found, *what;
    } cases[] = {{{ECONNREFUSED, EHOSTUNREACH},
                  {true, true},
                  VERDICT_PASS,
                  "can be reached",
                  "a port that nothing listens at can be reached"},
                 {{0, EHOSTUNREACH},
                  {true, true},
                  VERDICT_PASS,
                  "can be reached",
                  "... and one where something does"},
                 {{ENETUNREACH, ECONNREFUSED},
                  {true, true},
                  VERDICT_PASS,
                  "can be reached",
                  "... also by the second address of the node"},
                 {{0, ECONNREFUSED},
                  {false, true},
                  VERDICT_PASS,
                  "can be reached",
                  "... if this host has no socket for the first"},
                 {{EINPROGRESS, ENETUNREACH},
                  {true, true},
                  VERDICT_WARN,
                  "of n2 cannot be reached: Connection timed out",
                  "packets that a firewall drops get a warning"},
                 {{EHOSTUNREACH, 0},
                  {true, false},
                  VERDICT_WARN,
                  "of n2 cannot be reached: No route to host",
                  "... and those that it rejects"},
                 {{0, 0},
                  {false, false},
                  VERDICT_UNKNOWN,
                  "this host has no socket for n2: Address family not supported by protocol",
                  "a host without a socket says nothing about the node"}};
    struct doctor_site site = {.root = ""};
    char found[DOCTOR_FOUND] = "";

    unsetenv("SLURM_STEP_NODELIST");
    is_int(doctor_look_ports(&site, found), VERDICT_SKIP,
           "outside of a step there is no next node");
    setenv("SLURMD_NODENAME", "n1", 1);
    setenv("SLURM_STEP_NODELIST", "n1", 1);
    is_int(doctor_look_ports(&site, found), VERDICT_SKIP, "... nor in a step of one node");
    setenv("SLURM_STEP_NODELIST", "n[1-2]", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(connect_errno, cases[i].reason, sizeof connect_errno);
        memcpy(has_sockets, cases[i].has_sockets, sizeof has_sockets);
        connect_s = connections = 0;
        is_int(doctor_look_ports(&site, found), cases[i].verdict, "%s", cases[i].what);
        ok(fabs(connect_s - connections * DOCTOR_REACH_S / 2.0) < 0.05,
           "... both addresses share the time that slurmd has to answer (%.2f s)", connect_s);
        has_str(found, cases[i].found, "... in words");
    }
    setenv("SLURM_STEP_NODELIST", "n1,n3", 1);
    is_int(doctor_look_ports(&site, found), VERDICT_SKIP, "... nor does a name without an address");
}

int main(void)
{
    looks_for_transports();
    looks_for_ports();
    certificates_need_munge();
    queries_each_node_in_its_partition();
    warns_of_an_extra_that_is_no_json();
    check_health_precondition("HealthCheckInterval=300", "HealthCheckNodeState=ANY,CYCLE",
                              "pass HealthCheckProgram=/x/muster-healthcheck",
                              "a health check that runs");
    check_health_precondition(
        "ClusterName=x", "MpiDefault=pmix",
        "warn slurmd does not run /x/muster-healthcheck: HealthCheckInterval is not set",
        "... without an interval it does not run");
    check_health_precondition(
        "HealthCheckInterval=0", "HealthCheckNodeState=ANY",
        "warn slurmd does not run /x/muster-healthcheck: HealthCheckInterval is 0",
        "... nor with the interval 0");
    check_health_precondition("HealthCheckInterval=300", "HealthCheckNodeState=START_ONLY",
                              "warn slurmd runs /x/muster-healthcheck only as it starts: "
                              "HealthCheckNodeState=START_ONLY",
                              "... or it runs at slurmd's start only");
    return tap_done();
}
