/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdbool.h>
#include <strings.h>

#include "lib/certificate/seal.h"
#include "lib/slurm/slurmconf.h"

/* Whether slurm.conf has an AuthType other than MUNGE, the default; sets type to it. */
static int is_other_authentication(const struct checks *checks, char *type, size_t size)
{
    char directory[256];
    struct slurm_lines lines = {0};
    int is_other = 0;

    if (slurm_directory(checks->root, directory, sizeof directory, NULL) == 0 &&
        slurm_lines_read(checks->root, directory, "slurm.conf", &lines, NULL) == 0)
        is_other = slurm_lines_value(&lines, "AuthType", type, size) &&
                   strcasecmp(type, "auth/munge") != 0;
    slurm_lines_clear(&lines);
    return is_other;
}

void check_munge(const struct checks *checks)
{
    struct error err = {""};
    char type[64];
    bool is_queried;

    if (checks_skip_recorded(checks))
        return;
    if (is_other_authentication(checks, type, sizeof type)) {
        checks_record(checks, "", VERDICT_SKIP, "Slurm authenticates with %s", type);
        return;
    }
    if (seal_try(&is_queried, &err) != 0)
        checks_record(checks, "", is_queried ? VERDICT_FAIL : VERDICT_UNKNOWN, "%s", err.text);
    else
        checks_record(checks, "", VERDICT_PASS,
                      "a credential was encoded and decoded on this node");
}
