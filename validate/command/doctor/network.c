/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/constants/command_constants.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/step/process.h"

/* ---------------------------------------------------------------- UCX */

struct transports {
    const struct fabric *fabric;
    char of_rail[INVENTORY_NICS][64]; /* "rc_mlx5 ud_mlx5" */
};

static bool is_rdma(const struct rail *rail)
{
    return rail->port && fabric_class_is_rdma(rail->class);
}

/* Returns the device by which the battery measures the rail; NULL: UCX has none for its class. */
static const char *device_of(const struct rail *rail)
{
    return is_rdma(rail) ? rail->name : rail->nic ? rail->nic->name : NULL;
}

/* Adds a transport, "tcp/eth1", to the rail that the battery would measure by it. */
static void take_transport(const char *line, bool is_error, void *context)
{
    struct transports *transports = context;
    const char *device = strchr(line, '/');
    int length = device ? (int)(device - line) : 0;
    bool is_tcp = length == 3 && strncmp(line, "tcp", 3) == 0;

    for (size_t i = 0; !is_error && device && i < transports->fabric->rail_count; i++) {
        const struct rail *rail = &transports->fabric->rails[i];
        const char *name = device_of(rail);

        if (name && is_tcp != is_rdma(rail) && strcmp(device + 1, name) == 0)
            text_join(transports->of_rail[i], sizeof transports->of_rail[i], " ", "%.*s", length,
                      line);
    }
}

/* Runs a program of the battery, as the user of the battery: UCX is not for root. */
static int transports_query(const struct doctor_site *site, struct transports *transports,
                            struct error *err)
{
    static char path[512], option[] = "--transports", *argv[] = {path, option, NULL};
    struct process_result result;
    struct user user;

    snprintf(path, sizeof path, "%s/muster-links", MUSTER_BINDIR);
    if (geteuid() == 0 && user_find(site->conf->battery_user, &user, err) != 0)
        return -1;
    if (process_run(&(struct process){.argv = argv,
                                      .user = geteuid() == 0 ? &user : NULL,
                                      .deadline_s = 10,
                                      .grace_s = 1,
                                      .on_line = take_transport,
                                      .context = transports},
                    &result, err) != 0)
        return -1;
    if (result.end != PROCESS_EXITED || result.status != 0)
        return error_set(err, "muster-links --transports failed: %s",
                         *result.error_line.text ? result.error_line.text : "no error message");
    return 0;
}

enum verdict doctor_look_transports(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    const struct fabric *fabric = site->fabric;
    struct transports transports = {.fabric = fabric};
    char missing[DOCTOR_FOUND] = "", unserved[DOCTOR_FOUND] = "";
    enum verdict verdict;
    struct error err;

    if (*site->root || fabric->rail_count == 0)
        return FOUND(VERDICT_SKIP, "%s",
                     *site->root ? "UCX not queried for a recorded tree" : "this host has no rail");
    if (transports_query(site, &transports, &err) != 0)
        return FOUND(VERDICT_UNKNOWN, "%s", err.text);
    for (size_t i = 0; i < fabric->rail_count; i++)
        if (*transports.of_rail[i])
            text_join(found, DOCTOR_FOUND, ", ", "%s on %s", transports.of_rail[i],
                      fabric->rails[i].name);
        else if (rail_is_up(&fabric->rails[i]))
            text_join(device_of(&fabric->rails[i]) ? missing : unserved, DOCTOR_FOUND, " ",
                      "%s (%s)", fabric->rails[i].name, fabric_class_name(fabric->rails[i].class));
    if (*missing)
        return FOUND(VERDICT_FAIL, "UCX has no transport for %s", missing);
    verdict = *found ? VERDICT_PASS : VERDICT_SKIP;
    if (*unserved)
        text_join(found, DOCTOR_FOUND, "; ", "not measured, as UCX is not for it: %s", unserved);
    return *found ? verdict : FOUND(VERDICT_SKIP, "no rail is up");
}

/* ---------------------------------------------------------------- ports */

/* Connects to the addresses until one answers, for DOCTOR_REACH_S in all. Returns 0 if one accepted
 * or refused, else the errno of the first; -1 with errno if this host has no socket for any. */
static int addresses_reach(const struct addrinfo *addresses)
{
    long count = 0, limit_us;
    struct timeval limit;
    int reason = -1;

    for (const struct addrinfo *each = addresses; each; each = each->ai_next)
        count++;
    limit_us = DOCTOR_REACH_S * 1000000L / count;
    limit = (struct timeval){limit_us / 1000000, limit_us % 1000000};
    for (; addresses && reason != 0; addresses = addresses->ai_next) {
        int fd = socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* also of connect() */
        if (connect(fd, addresses->ai_addr, addresses->ai_addrlen) == 0 || errno == ECONNREFUSED)
            reason = 0;
        else if (reason < 0)
            reason = errno == EINPROGRESS ? ETIMEDOUT : errno;
        close(fd);
    }
    return reason;
}

/* Sets name to the node after this one in the list of the step, or to "". */
static void next_node(char *name, size_t size)
{
    const char *list = getenv("SLURM_STEP_NODELIST"), *here = getenv("SLURMD_NODENAME");
    struct hostlist nodes = {0};

    *name = '\0';
    if (list && here && hostlist_expand(list, &nodes, NULL) == 0 && nodes.count > 1)
        for (size_t i = 0; i < nodes.count; i++)
            if (strcmp(nodes.names[i], here) == 0)
                snprintf(name, size, "%s", nodes.names[(i + 1) % nodes.count]);
    hostlist_clear(&nodes);
}

/* Returns a port of the kernel's range: where MPI, UCX and srun listen unless they are limited. */
static long port_choose(void)
{
    long first = 32768, last = 60999; /* Linux's defaults */
    char text[64];

    sysfs_line("", text, sizeof text, "proc/sys/net/ipv4/ip_local_port_range");
    (void)sscanf(text, "%ld %ld", &first, &last);
    return first + getpid() % (last - first + 1);
}

/* Most likely nothing listens at the port, and the node refuses the connection. A firewall drops it
 * or reports another error. Opens no port itself: root listens nowhere. */
enum verdict doctor_look_ports(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *addresses = NULL;
    char name[256], port[16];
    int reason;

    next_node(name, sizeof name);
    if (*site->root || !*name)
        return FOUND(VERDICT_SKIP, "no other node to connect to");
    snprintf(port, sizeof port, "%ld", port_choose());
    if (getaddrinfo(name, port, &hints, &addresses) != 0)
        return FOUND(VERDICT_SKIP, "the name %s has no address on this host", name);
    reason = addresses_reach(addresses);
    if (reason < 0)
        text_put(found, DOCTOR_FOUND, "this host has no socket for %s: %m", name);
    freeaddrinfo(addresses);
    if (reason < 0)
        return VERDICT_UNKNOWN;
    if (reason == 0)
        return FOUND(VERDICT_PASS, "the next node can be reached");
    return FOUND(VERDICT_WARN, "TCP port %s of %s cannot be reached: %s", port, name,
                 strerror(reason));
}
