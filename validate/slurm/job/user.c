/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

int user_find(const char *name, struct user *user, struct error *err)
{
    const struct passwd *found;

    *user = (struct user){.group_count = USER_GROUPS};
    errno = 0;
    found = getpwnam(name); /* an entry of any length */
    if (!found)
        return error_set(err, errno == 0 ? "no such user" : "lookup failed: %m");
    if (found->pw_uid == 0)
        return error_set(err, "has UID 0, which is root's");
    user->uid = found->pw_uid;
    user->gid = found->pw_gid;
    if (snprintf(user->name, sizeof user->name, "%s", name) >= (int)sizeof user->name ||
        snprintf(user->home, sizeof user->home, "%s", found->pw_dir) >= (int)sizeof user->home)
        return error_set(err, "its name or home directory is too long");
    if (getgrouplist(name, user->gid, user->groups, &user->group_count) < 0)
        return error_set(err, "is in %d groups, allowed at most %d", user->group_count,
                         USER_GROUPS);
    return 0;
}

/* Returns whether MPI programs can use the variable: root's environment may hold root's secrets
 * (tokens, agents' sockets). A name that ends with '_' stands for all names that begin with it. */
static bool is_kept(const char *entry)
{
    static const char *const names[] = {
        "PATH",       "LANG",    "LANGUAGE", "LC_",   "TZ",      "TERM",   "LD_LIBRARY_PATH",
        "SLURM_CONF", "MALLOC_", "MUSTER_",  "OMPI_", "OPAL_",   "PMIX_",  "PRTE_",
        "MPICH_",     "I_MPI_",  "FI_",      "UCX_",  "UCC_",    "HWLOC_", "OMP_",
        "OPENBLAS_",  "DNNL_",   "ONEDNN_",  "NCCL_", "RCCL_",   "HCCL_",  "HABANA_",
        "CUDA_",      "HIP_",    "ROCR_",    "HSA_",  "NO_COLOR"};
    size_t length = strcspn(entry, "=");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t wanted = strlen(names[i]);

        if (strncmp(entry, names[i], wanted) == 0 &&
            (names[i][wanted - 1] == '_' || length == wanted))
            return true;
    }
    return false;
}

void user_keep_environment(bool (*is_wanted)(const char *entry))
{
    size_t kept = 0;

    for (size_t i = 0; environ && environ[i]; i++)
        if (is_wanted(environ[i]))
            environ[kept++] = environ[i];
    if (environ)
        environ[kept] = NULL;
}

static void leave_terminal(void)
{
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (terminal < 0)
        return;
    (void)ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

int user_become(const struct user *user)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

    leave_terminal();
    (void)setrlimit(RLIMIT_MEMLOCK, &unlimited); /* a container may not let root do it */
    if (setgroups((size_t)user->group_count, user->groups) != 0 ||
        setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        return -1;
    if (setuid(0) == 0) { /* root's rights are not gone, for whatever reason */
        errno = EPERM;
        return -1;
    }
    user_keep_environment(is_kept);
    if (setenv("HOME", user->home, 1) != 0 || setenv("USER", user->name, 1) != 0 ||
        setenv("LOGNAME", user->name, 1) != 0)
        return -1;
    return 0;
}
