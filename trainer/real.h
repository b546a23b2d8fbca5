/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REAL_H
#define MUSTER_REAL_H

#include "lib/base/vectorised.h"

/* The number that the model is computed in. The program is built with float; the tests build the
 * same sources with double as well, where finite differences say something. */
#ifdef MUSTER_REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
