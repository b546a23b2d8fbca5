/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/tar.h"

#include <string.h>
#include <time.h>

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == 512, "a tar is made of blocks of 512 bytes");

void tar_member(FILE *tar, const char *name, const char *text, size_t size)
{
    struct header header = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    static const char zeros[512];
    unsigned sum = 0;

    snprintf(header.name, sizeof header.name, "%s", name);
    snprintf(header.mode, sizeof header.mode, "%07o", 0600);
    snprintf(header.uid, sizeof header.uid, "%07o", 0);
    snprintf(header.gid, sizeof header.gid, "%07o", 0);
    snprintf(header.size, sizeof header.size, "%011zo", size);
    snprintf(header.mtime, sizeof header.mtime, "%011lo", (unsigned long)time(NULL));
    memset(header.sum, ' ', sizeof header.sum);
    for (size_t i = 0; i < sizeof header; i++)
        sum += ((const unsigned char *)&header)[i];
    snprintf(header.sum, sizeof header.sum, "%06o", sum);
    fwrite(&header, 1, sizeof header, tar);
    fwrite(text, 1, size, tar);
    fwrite(zeros, 1, (512 - size % 512) % 512, tar);
}

void tar_end(FILE *tar)
{
    static const char zeros[1024];

    fwrite(zeros, 1, sizeof zeros, tar);
}
