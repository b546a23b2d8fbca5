/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONSTANTS_H
#define MUSTER_CONSTANTS_H

#include <stdbool.h>
#include <stdio.h>

/* Prints all tuned constants (lib/constants/constant.h): as comments of a muster.conf, one
 * paragraph per room, or as JSON lines. */
void constants_print(bool as_json, FILE *stream);

#endif
