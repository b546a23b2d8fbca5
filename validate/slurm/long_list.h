/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LONG_LIST_H
#define MUSTER_LONG_LIST_H

#include <stdbool.h>

#include "lib/base/hostlist.h"

/* Lists that no command line holds: the kernel refuses to start a program (E2BIG) with an argument
 * of 128 KiB. Thousands of names that do not fold, as fully qualified ones, are longer. */

bool long_list_is(const char *text);

/* The value of an argument "--NAME=VALUE" that is too long; NULL: any other argument. Our own
 * programs read it from standard input, one value per line in the order of their options, where
 * "--NAME=-" tells them so. */
const char *long_list_value(const char *argument);

/* A file without a name with those nodes, for srun's --nodelist, in "/proc/self/fd/N" of this
 * process and what it starts, under any user. It is gone with the last of them. Returns N, to be
 * closed, or -1 with err. */
int long_list_file(const struct hostlist *nodes, struct error *err);

#endif
