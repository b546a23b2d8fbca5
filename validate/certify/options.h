/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_OPTIONS_H
#define MUSTER_CERTIFY_OPTIONS_H

#include "validate/certify/state/run.h"

/* Reads the options. Returns -1 to go on, else the exit status. */
int certify_options_read(int argc, char **argv, struct certify_options *options);

#endif
