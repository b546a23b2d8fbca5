/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/privileges.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPABILITIES_MOST = 64 };

const char privileges_refusal[] =
    "refusing to run as root: it accepts messages from the network; run it as another user, or set "
    "MUSTER_ALLOW_ROOT=1";

bool privileges_are_refused(void)
{
    const char *allowed = getenv("MUSTER_ALLOW_ROOT");

    return geteuid() == 0 && (!allowed || strcmp(allowed, "1") != 0);
}

void privileges_drop(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() == 0)
        return;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; capability < CAPABILITIES_MOST; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); /* needs CAP_SETPCAP, which few have */
    (void)syscall(SYS_capset, &header, none);
}

void privileges_check_and_drop(const char *program, bool is_reporter)
{
    if (privileges_are_refused()) {
        if (is_reporter)
            fprintf(stderr, "%s: %s\n", program, privileges_refusal);
        else
            usleep(300000); /* launchers end all ranks when one fails: let the other rank print */
        exit(2);
    }
    privileges_drop();
}
