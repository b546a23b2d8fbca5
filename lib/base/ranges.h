/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RANGES_H
#define MUSTER_RANGES_H

/* Lists of numbers in the kernel's format: "0-3,8", for processors and NUMA nodes. */

struct range {
    long first, last; /* first <= last, neither negative */
};

/* Reads the next range and advances *list. Returns 1, 0 at the end of the list, or -1 if the next
 * text is not a range. */
int range_next(const char **list, struct range *range);

#endif
