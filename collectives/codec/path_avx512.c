/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/avx512.h"
#include "collectives/codec/crc32c.h"

#ifdef __x86_64__
static bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           crc32c_has_vectors() && codec_path_avx2.usable();
}

const struct codec_path codec_path_avx512 = {
    .name = "avx512",
    .usable = usable,
    .uses_cells = true,
    .split = codec_avx512_split,
    .encode = codec_avx512_encode,
    .decode = codec_avx512_decode,
    .decode_two = codec_avx512_decode_two,
    .merge = codec_portable_merge,
    .crc = crc32c_vectors,
};
#else
typedef int codec_path_avx512_is_for_x86_64;
#endif
