/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/path.h"

/* slowest first */
static const struct codec_path *const paths[] = {
    &codec_path_portable,
#ifdef __x86_64__
    &codec_path_avx2,
    &codec_path_avx512,
#endif
};

const struct codec_path *codec_path_at(unsigned number)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i]->usable() && number-- == 0)
            return paths[i];
    return NULL;
}

const struct codec_path *codec_path_best(void)
{
    const struct codec_path *best = NULL, *path;

    for (unsigned number = 0; (path = codec_path_at(number)); number++)
        best = path;
    return best;
}

const struct codec_path *codec_path_named(const char *name)
{
    const struct codec_path *path;

    for (unsigned number = 0; (path = codec_path_at(number)); number++)
        if (strcmp(path->name, name) == 0)
            return path;
    return NULL;
}

const char *codec_path_name(const struct codec_path *path)
{
    return path->name;
}
