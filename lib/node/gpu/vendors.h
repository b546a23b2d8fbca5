/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_VENDORS_H
#define MUSTER_GPU_VENDORS_H

/* The vendors, in the order in which they are queried and reported. A vendor is a row here and the
 * file of that name in this directory; the rest of the tree needs nothing else. */
#define GPU_VENDOR_LIST(ROW)                                                                       \
    ROW(NVIDIA, nvidia)                                                                            \
    ROW(AMD, amd)                                                                                  \
    ROW(GAUDI, gaudi)                                                                              \
    ROW(INTEL, intel)

#define GPU_VENDOR_ENUM(upper, lower) GPU_##upper,
enum gpu_vendor { GPU_OTHER, GPU_VENDOR_LIST(GPU_VENDOR_ENUM) GPU_VENDORS };
#undef GPU_VENDOR_ENUM

#endif
