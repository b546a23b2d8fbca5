/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/claims.h"

#include <sys/stat.h>

void claims_place_make(void)
{
    static const char path[] = MUSTER_LOCALSTATEDIR "/lib/muster/claims";

    /* Nobody can put anything else there in between: the directory above is root's. */
    if (mkdir(path, 0700) == 0)
        chmod(path, S_ISVTX | 0733);
}
