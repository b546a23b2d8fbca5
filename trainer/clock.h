/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAINER_CLOCK_H
#define MUSTER_TRAINER_CLOCK_H

#include "lib/base/clock.h"

#endif
