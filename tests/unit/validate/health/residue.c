/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/residue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define SLURMD "0::/system.slice/slurmd.service\n"
#define JOB(n) "0::/system.slice/slurmstepd.scope/job_" n "/step_0/user/task_0\n"

static char *root;
static struct residue residue;

static void put_process(int pid, int parent, unsigned uid, char state, const char *name,
                        const char *cgroups)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "proc/%d/status", pid);
    snprintf(text, sizeof text,
             "Name:\t%s\nUmask:\t0022\nState:\t%c (x)\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n"
             "Uid:\t%u\t%u\t%u\t%u\n",
             name, state, pid, pid, parent, uid, uid, uid, uid);
    tree_put(root, path, text);
    snprintf(path, sizeof path, "proc/%d/cgroup", pid);
    tree_put(root, path, cgroups);
}

/* A node where user 1000 has job 12 and user 1003 has a login. */
static void put_node(void)
{
    if (root)
        tree_remove(root);
    root = tree_unpack("");
    put_process(1, 0, 0, 'S', "systemd", "0::/init.scope\n");
    put_process(300, 1, 0, 'S', "slurmd", SLURMD);
    put_process(310, 1, 0, 'S', "sshd", "0::/system.slice/ssh.service\n");
    put_process(400, 1, 0, 'S', "slurmstepd", JOB("12"));
    tree_put(root, "proc/400/cmdline", "slurmstepd: [12.0]");
    put_process(401, 400, 1000, 'R', "python3", JOB("12"));
    put_process(500, 310, 0, 'S', "sshd", "0::/system.slice/ssh.service\n");
    put_process(501, 500, 1003, 'S', "bash", "0::/system.slice/ssh.service\n");
    put_process(600, 1, 1500, 'S', "exporter", "0::/system.slice/exporter.service\n");
}

static void processes_are(int expected, const char *what)
{
    residue_read(root, &residue);
    is_int(residue.processes, expected, "%s", what);
}

static void test_processes(void)
{
    put_node();
    is_int(residue_read(root, &residue), 0, "a node is read");
    is_int(residue.processes, 0, "jobs, logins and services are no residue");
    put_process(402, 1, 1000, 'S', "tmux", SLURMD);
    put_process(502, 1, 1003, 'S', "tmux", SLURMD);
    processes_are(0, "processes of users with a job or a login are no residue");
    put_process(700, 1, 65534, 'S', "dnsmasq", SLURMD);
    put_process(701, 1, 996, 'S', "munged", SLURMD);
    processes_are(0, "processes of system users are no residue");
    put_process(800, 1, 1001, 'S', "daemon", SLURMD);
    put_process(801, 1, 1002, 'D', "python3", JOB("11"));
    put_process(802, 1, 1002, 'S', "python3", JOB("11"));
    processes_are(3, "processes that left a job, or stayed after it, are residue");
    is_int(residue.stuck, 1, "... one of them cannot be killed");
    is_str(residue.names[0], "daemon (pid 800, uid 1001)", "... the first is named");
    is_str(residue.names[1], "python3 (pid 801, uid 1002)",
           "... and so is the second, with its user");
    tree_put(root, "etc/login.defs", "UID_MIN\t\t 1001\n");
    processes_are(3, "... also of the first UID of users, which login.defs has");
    tree_put(root, "proc/400/cmdline", "slurmstepd: [11.batch]");
    processes_are(1, "while the job's slurmstepd runs its processes are no residue");
    tree_put(root, "etc/login.defs", "# UID_MIN 1\nUID_MIN\t\t 2000\n");
    processes_are(0, "... processes of lower UIDs are no residue");
}

/* A process can take any name with prctl(PR_SET_NAME). */
static void trusts_daemon_names_of_root_only(void)
{
    put_node();
    put_process(299, 1, 1004, 'S', "slurmd", "0::/elsewhere\n");
    put_process(800, 1, 1001, 'S', "slurmstepd", SLURMD);
    tree_put(root, "proc/800/cmdline", "slurmstepd: [11.0]");
    put_process(801, 1, 1002, 'S', "sshd", SLURMD);
    put_process(802, 1, 1005, 'S', "a\033[2Jb", JOB("11"));
    processes_are(3, "a user's process named slurmstepd or sshd is residue");
    is_str(residue.names[2], "a?[2Jb (pid 802, uid 1005)",
           "... control characters in a name are replaced");
    is_int(residue_is_of_step(root, 800), 0, "... and it belongs to no step");
}

static void test_steps(void)
{
    put_node();
    put_process(402, 401, 1000, 'R', "worker", "0::/system.slice/slurmd.service\n");
    put_process(403, 9999, 1000, 'R', "orphan", SLURMD);
    is_int(residue_is_of_step(root, 402), 1, "a descendant of slurmstepd belongs to a step");
    is_int(residue_is_of_step(root, 501), 0, "... a login does not");
    is_int(residue_is_of_step(root, 600), 0, "... nor does a service");
    is_int(residue_is_of_step(root, 403), -1, "with a missing ancestor it is unknown");
    is_int(residue_is_of_step(root, 404), -1, "... and with a missing process");
}

static void test_shared_memory(void)
{
    char path[4096];

    put_node();
    tree_put(root, "proc/sysvipc/shm",
             "       key      shmid perms                  size  cpid  lpid nattch   uid   gid\n"
             "         0          1   600               1000000   401   401      1  1001  1001\n"
             "         0          2   600               2000000   401   401      0  1001  1001\n"
             "         0          3   600               4000000   401   401      0  1000  1000\n"
             "         0          4   600               8000000   401   401      0     0     0\n");
    residue_read(root, &residue);
    is_int(residue.segments, 1, "an unattached segment of a user without a job or login");
    is_near(residue.bytes, 2e6, 0, "... is residue, with its size");
    tree_put(root, "dev/shm/nccl-abc", "some bytes");
    tree_put(root, "dev/shm/sem.of-a-job", "some bytes");
    residue_read(root, &residue);
    is_int(residue.files, 0, "root's files are no residue");
    snprintf(path, sizeof path, "%s/dev/shm/nccl-abc", root);
    if (chown(path, 1002, 1002) < 0)
        tap_skip("only root can give a file to another user");
    else {
        snprintf(path, sizeof path, "%s/dev/shm/sem.of-a-job", root);
        (void)!chown(path, 1000, 1000);
        residue_read(root, &residue);
        is_int(residue.files, 1, "a file in /dev/shm of a user without a job or login is");
    }
}

/* ---------------------------------------------------------------- without memory */

static int allocations, refused_allocation; /* allocations so far, and the one that is refused */

static bool has_memory(void)
{
    if (++allocations != refused_allocation)
        return true;
    errno = ENOMEM;
    return false;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return has_memory() ? __real_malloc(size) : NULL;
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    return has_memory() ? __real_realloc(old, size) : NULL;
}

static void test_without_memory(void)
{
    int blamed = 0;

    put_node();
    put_process(402, 1, 1000, 'S', "tmux", SLURMD);
    refused_allocation = 0;
    do {
        allocations = 0;
        refused_allocation++;
        blamed += residue_read(root, &residue) == 0 && residue.processes > 0;
    } while (allocations >= refused_allocation);
    ok(blamed == 0 && refused_allocation > 20,
       "each of %d allocations fails, and no process is counted", refused_allocation - 1);
    refused_allocation = 0;
}

int main(void)
{
    test_processes();
    trusts_daemon_names_of_root_only();
    test_steps();
    test_shared_memory();
    test_without_memory();
    tree_remove(root);
    is_int(residue_read("/nonexistent", &residue), -1, "without /proc the reading fails");
    return tap_done();
}
