/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/certificate/certificate.h"
#include "lib/certificate/seal.h"
#include "lib/constants/slurm_constants.h"
#include "tests/unit/tap.h"

/* Tests the state of nodes whose name, host or slurmd is slow. All are on this machine. */

#define DEADLINE_S 0.5

static double slow_name_s;
static int slow_slurmd_s;
static const char *slow_node = ""; /* the node whose slurmd is slow; "": each */

int __real_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                       struct addrinfo **found)
{
    usleep((useconds_t)(1e6 * slow_name_s));
    return __real_getaddrinfo(name, port, hints, found);
}

static int forks;

pid_t __real_fork(void);
pid_t __wrap_fork(void)
{
    forks++;
    return __real_fork();
}

/* Slurm built with --enable-multiple-slurmd, or without, as on most sites. */
static bool has_multiple_slurmd = true;
static bool has_slurmd_hung_up;
slurmdb_cluster_rec_t *working_cluster_rec;

uint32_t slurmdb_setup_cluster_flags(void)
{
    return working_cluster_rec   ? working_cluster_rec->flags
           : has_multiple_slurmd ? CLUSTER_FLAG_MULTSD
                                 : 0;
}

long slurm_api_version(void)
{
    return 0x2a0001;
}

int slurm_load_slurmd_status(slurmd_status_t **status)
{
    static slurmd_status_t answer;

    if (!*slow_node || strcmp(getenv("SLURMD_NODENAME"), slow_node) == 0)
        sleep((unsigned)slow_slurmd_s);
    if (working_cluster_rec && strcmp(getenv("SLURMD_NODENAME"), "cloud") == 0)
        sleep(5); /* the record does not name the controller */
    if (strcmp(getenv("SLURMD_NODENAME"), "dynamic") == 0) { /* slurm.conf has no such node */
        errno = EAGAIN;
        return SLURM_ERROR;
    }
    if (!(slurmdb_setup_cluster_flags() & CLUSTER_FLAG_MULTSD)) { /* this host has no slurmd */
        errno = ECONNREFUSED;
        return SLURM_ERROR;
    }
    if (has_slurmd_hung_up || (working_cluster_rec && working_cluster_rec->rpc_version != 0x2a00)) {
        errno = SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT;
        return SLURM_ERROR;
    }
    *status = &answer;
    return SLURM_SUCCESS;
}

char *slurm_strerror(int number)
{
    return strerror(number);
}

int seal_make(const char *text, size_t text_length, char **seal, struct error *err)
{
    *seal = NULL;
    return 0;
}

int seal_verify_by(unsigned owner_uid, const char *seal, const char *text, size_t text_length,
                   struct error *err)
{
    return SEAL_GENUINE;
}

/* Returns a socket that listens on its own port, which is stored in *port. */
static int listen_on(uint16_t *port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, backlog) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        tap_skip_all("no socket: %m");
    *port = ntohs(address.sin_port);
    return fd;
}

/* Connects until the kernel accepts no more, so that the next connection waits. */
static void fill_backlog(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};

    for (int i = 0; i < 4; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        (void)!connect(fd, (struct sockaddr *)&address, sizeof address);
    }
    usleep(100000);
}

static double seconds;                      /* of the last answer */
static bool is_dynamic, is_cloud, is_older; /* the node that is asked */

static enum reach_state reach_state_of(uint16_t port)
{
    char name[] = "n1", dynamic[] = "dynamic", cloud[] = "cloud", host[] = "127.0.0.1";
    struct cluster_node node = {.name = is_dynamic ? dynamic
                                        : is_cloud ? cloud
                                                   : name,
                                .address = host,
                                .port = port,
                                .is_dynamic = is_dynamic,
                                .is_cloud = is_cloud,
                                .is_older = is_older},
                        *nodes[] = {&node};
    struct reach answer = {.state = REACH_NOT_QUERIED};
    struct error err;

    if (reach_nodes(nodes, 1, DEADLINE_S, NULL, &answer, &err) != 0)
        tap_diag("%s", err.text);
    tap_diag("%s", answer.message);
    seconds = answer.seconds;
    return answer.state;
}

/* Two of many nodes hang. The nodes after them are asked nevertheless. */
static void test_many_nodes(void)
{
    enum { MANY = 5 * REACH_AT_ONCE };
    static struct cluster_node nodes[MANY], *list[MANY];
    static char names[MANY][8];
    static struct reach answers[MANY];
    char host[] = "127.0.0.1";
    size_t answering = 0;
    uint16_t port, closed;
    int fd = listen_on(&port, 2 * MANY);

    close(listen_on(&closed, 1));
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        nodes[i] = (struct cluster_node){
            .name = names[i], .address = host, .port = i == 7 ? closed : port};
        list[i] = &nodes[i];
    }
    slow_node = "n3";
    slow_slurmd_s = 5;
    forks = 0;
    is_int(reach_nodes(list, MANY, 2 * DEADLINE_S, NULL, answers, NULL), 0, "%d nodes are asked",
           MANY);
    slow_node = "";
    slow_slurmd_s = 0;
    for (int i = 0; i < MANY; i++)
        answering += answers[i].state == REACH_ANSWERS;
    is_int((long long)answering, MANY - 2, "... and all that answer are counted");
    is_int(answers[3].state, REACH_FROZEN, "... the hanging one is frozen");
    is_int(answers[7].state, REACH_NO_SLURMD, "... the one without a slurmd is known");
    ok(forks < MANY / 2, "... with few processes: %d", forks);
    close(fd);
}

int main(void)
{
    uint16_t port;
    int fd = listen_on(&port, 16);

    is_int(reach_state_of(port), REACH_ANSWERS, "a slurmd that answers");
    has_multiple_slurmd = false;
    is_int(reach_state_of(port), REACH_ANSWERS,
           "... also through a libslurm that asks its own host by default");
    is_cloud = true;
    is_int(reach_state_of(port), REACH_ANSWERS,
           "... a cloud node that libslurm does not find accepts connections");
    has_multiple_slurmd = true;
    is_int(reach_state_of(port), REACH_ANSWERS, "a cloud node that answers");
    is_cloud = false;
    is_dynamic = true;
    is_int(reach_state_of(port), REACH_ANSWERS,
           "a dynamic node, which libslurm does not find, accepts connections");
    is_dynamic = false;
    has_slurmd_hung_up = is_older = true;
    is_int(reach_state_of(port), REACH_ANSWERS,
           "a node of an older release, which does not understand the request, answers");
    is_older = false;
    is_int(reach_state_of(port), REACH_NO_MUNGE, "a slurmd that hangs up rejects the credential");
    has_slurmd_hung_up = false;
    slow_slurmd_s = 5;
    is_int(reach_state_of(port), REACH_FROZEN, "a slurmd without an answer is frozen");
    slow_slurmd_s = 0;
    slow_name_s = 5;
    is_int(reach_state_of(port), REACH_NO_ADDRESS,
           "a name that does not resolve in time is this host's problem");
    slow_name_s = 0.9 * DEADLINE_S;
    is_int(reach_state_of(port), REACH_ANSWERS, "a name that resolves slowly");
    ok(seconds < 0.5 * DEADLINE_S, "... does not count as slurmd's time");
    slow_slurmd_s = 5;
    is_int(reach_state_of(port), REACH_FROZEN, "a slurmd without an answer after a slow name");
    ok(seconds >= 2 * DEADLINE_S, "... had its full time");
    slow_name_s = slow_slurmd_s = 0;
    close(fd);
    is_int(reach_state_of(port), REACH_NO_SLURMD, "a closed port has no slurmd");
    fd = listen_on(&port, 0);
    fill_backlog(port);
    is_int(reach_state_of(port), REACH_CUT_OFF,
           "a host that does not accept the connection is cut off");
    slow_name_s = 1.4 * DEADLINE_S;
    is_int(reach_state_of(port), REACH_CUT_OFF, "... also after a slow name");
    ok(seconds >= 2 * DEADLINE_S, "... with its full time");
    close(fd);
    test_many_nodes();
    for (int state = REACH_NOT_QUERIED; state <= REACH_FAILED; state++)
        is_int(reach_kind((enum reach_state)state)->is_one_sided,
               state == REACH_NO_SLURMD || state == REACH_CUT_OFF,
               "state %d %s confirmation by another host", state,
               reach_kind((enum reach_state)state)->is_one_sided ? "needs" : "needs no");
    return tap_done();
}
