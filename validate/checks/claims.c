/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/claims/claims.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/checks/checks.h"

void check_claims(const struct checks *checks, const char *test)
{
    struct claims_overflow overflow;
    struct claim *claims = NULL;
    struct error err = {""};
    char directory[4096], text[512];
    int count, told = 0;

    claims_directory(checks->root, directory, sizeof directory);
    if (!checks->root[0] && geteuid() != 0) {
        checks_record(checks, test, "", VERDICT_SKIP, "only root may read users' claims");
        return;
    }
    count = claims_read(directory, &claims, &overflow, &err);
    if (count < 0) {
        checks_record(checks, test, "", VERDICT_UNKNOWN, "%s", err.text);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(claims[i].node, checks->node) != 0)
            continue;
        claim_describe(&claims[i], text, sizeof text);
        checks_record(checks, test, claims[i].part, VERDICT_WARN, "%s", text);
        told++;
    }
    if (told == 0)
        checks_record(checks, test, "", VERDICT_PASS,
                      "no preflight holds anything against this node");
    free(claims);
}
