/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REAL_H
#define MUSTER_REAL_H

#include "lib/base/vectorised.h"

/* The type of the model's numbers. The program is built with float; the tests build the same
 * sources with double as well, in which finite differences are meaningful. */
#ifdef MUSTER_REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
