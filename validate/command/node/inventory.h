/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_INVENTORY_H
#define MUSTER_COMMAND_INVENTORY_H

#include <stdio.h>

#include "lib/fabric/fabric.h"

/* Writes the output of muster inventory --json. Returns 0, or -1. */
int inventory_write_json(const struct inventory *inventory, const struct fabric *fabric,
                         FILE *stream);

#endif
