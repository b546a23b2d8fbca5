/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LONG_LIST_H
#define MUSTER_LONG_LIST_H

#include <stdbool.h>

#include "lib/base/hostlist.h"

/* Returns whether a list is too long for a command line: the kernel refuses to start a program
 * (E2BIG) with an argument of 128 KiB. Thousands of names that do not fold, such as fully qualified
 * ones, are longer. */

bool long_list_exceeds_limit(const char *text);

/* Returns the value of an argument "--NAME=VALUE" that is too long; NULL for any other argument.
 * muster's own programs read such values from standard input, one per line in the order of their
 * options, if they get "--NAME=-". */
const char *long_list_value(const char *argument);

/* Creates an unnamed file of these nodes for srun's --nodelist: "/proc/self/fd/N" in this process
 * and its children, for any user. The file disappears when the last process closes it. Returns N,
 * which the caller closes, or -1 with err. */
int long_list_file(const struct hostlist *nodes, struct error *err);

#endif
