/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERDICT_H
#define MUSTER_VERDICT_H

/* pass, warn, fail, unknown (could not be measured: never a pass), skip (with its reason in the
 * message); VERDICT_NONE for a measurement that is evaluated elsewhere. */
enum verdict {
    VERDICT_NONE,
    VERDICT_PASS,
    VERDICT_SKIP,
    VERDICT_WARN,
    VERDICT_UNKNOWN,
    VERDICT_FAIL, /* in the order of severity: the worst of several is the greatest */
};

/* Returns the name: "pass", "fail", ...; "none" for VERDICT_NONE. Never NULL. */
const char *verdict_name(enum verdict verdict);

/* Returns the verdict with this name, or -1. */
int verdict_parse(const char *name);

#endif
