/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/node/space_owner.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/constants/checks_constants.h"

enum { FILES_MOST = 100000, OWNERS = 64, OPEN_MOST = 16 };

static struct owner {
    uid_t uid;
    double bytes;
} owners[OWNERS];
static size_t owner_count, file_count;
static double end_s;

static int add(const char *path, const struct stat *status, int kind, struct FTW *position)
{
    size_t i = 0;

    (void)path, (void)position;
    while (i < owner_count && owners[i].uid != status->st_uid)
        i++;
    if (kind == FTW_F && i < OWNERS) {
        owner_count += i == owner_count;
        owners[i].uid = status->st_uid;
        owners[i].bytes += 512.0 * (double)status->st_blocks;
    }
    return ++file_count >= FILES_MOST || clock_s() >= end_s;
}

void space_owner(const char *directory, double least_gb, char text[SPACE_OWNER])
{
    size_t most = 0;

    memset(owners, 0, sizeof owners);
    owner_count = file_count = 0;
    end_s = clock_s() + CHECK_SPACE_OWNER_S;
    nftw(directory, add, OPEN_MOST, FTW_PHYS | FTW_MOUNT);
    for (size_t i = 1; i < owner_count; i++)
        if (owners[i].bytes > owners[most].bytes)
            most = i;
    *text = '\0';
    if (owners[most].bytes > 0 && owners[most].bytes >= 1e9 * least_gb)
        snprintf(text, SPACE_OWNER, "uid %u has %.3g GB in %s", owners[most].uid,
                 owners[most].bytes / 1e9, directory);
}
