/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/certificate/seal.h"
#include "lib/slurm/slurmconf.h"

/* What slurm.conf says about authentication. socket: of the munged that Slurm asks; "": not set. */
struct authentication {
    bool is_other; /* type is an AuthType other than MUNGE, the default */
    char type[64], socket[256];
};

static void authentication_read(const struct checks *checks, struct authentication *found)
{
    static const char key[] = "socket=";
    char directory[256], info[512];
    struct slurm_lines lines = {0};
    const char *named;

    *found = (struct authentication){.is_other = false};
    if (slurm_directory(checks->root, directory, sizeof directory, NULL) == 0 &&
        slurm_lines_read(checks->root, directory, "slurm.conf", &lines, NULL) == 0) {
        found->is_other = slurm_lines_value(&lines, "AuthType", found->type, sizeof found->type) &&
                          strcasecmp(found->type, "auth/munge") != 0;
        slurm_lines_value(&lines, "AuthInfo", info, sizeof info);
        named = strstr(info, key);
        if (named)
            snprintf(found->socket, sizeof found->socket, "%.*s",
                     (int)strcspn(named + strlen(key), ","), named + strlen(key));
    }
    slurm_lines_clear(&lines);
}

void check_munge(const struct checks *checks)
{
    const char *own = checks->conf->munge_socket;
    struct authentication slurm;
    struct error err = {""};
    bool is_queried, is_good;

    if (checks_skip_recorded(checks))
        return;
    authentication_read(checks, &slurm);
    if (slurm.is_other) {
        checks_record(checks, "", VERDICT_SKIP, "Slurm authenticates with %s", slurm.type);
        return;
    }
    seal_use_socket(*slurm.socket ? slurm.socket : own);
    is_good = seal_try(&is_queried, &err) == 0;
    seal_use_socket(own);
    if (!is_good)
        checks_record(checks, "", is_queried ? VERDICT_FAIL : VERDICT_UNKNOWN, "%s", err.text);
    else
        checks_record(checks, "", VERDICT_PASS,
                      "a credential was encoded and decoded on this node");
}
