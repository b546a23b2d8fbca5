/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMPARE_H
#define MUSTER_COMPARE_H

/* As strcmp(), for two numbers or pointers: below, equal to or above 0 as a is to b. Functions for
 * qsort() join comparisons with ?:, the first that differs decides. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
