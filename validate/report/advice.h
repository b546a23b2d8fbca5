/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADVICE_H
#define MUSTER_ADVICE_H

#include "lib/base/record.h"

/* What to do about a fault: one sentence for the person who reads the report, "" where nothing is
 * to be done (it passed, it was skipped) or nothing better is known than the message. test, part
 * and message as in a record, "" or NULL where there is none. */
const char *advice_on(enum verdict verdict, const char *test, const char *part,
                      const char *message);

#endif
