/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RANGES_H
#define MUSTER_RANGES_H

/* Lists of numbers as the kernel prints them: "0-3,8" of processors and NUMA nodes. */

struct range {
    long first, last; /* first <= last, neither negative */
};

/* Takes the next range off the list, which moves behind it. Returns 1; 0 at the end of the list; -1
 * where what stands there is no range. */
int range_next(const char **list, struct range *range);

#endif
