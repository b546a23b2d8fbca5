/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERDICT_H
#define MUSTER_VERDICT_H

/* pass, warn, fail, unknown (could not be measured: never a pass), skip (with its reason in the
 * message); VERDICT_NONE for a measurement that somebody else judges. */
enum verdict {
    VERDICT_NONE,
    VERDICT_PASS,
    VERDICT_SKIP,
    VERDICT_WARN,
    VERDICT_UNKNOWN,
    VERDICT_FAIL, /* the order is that of severity: the worst of several is the greatest */
};

/* "pass", "fail", ...; "none" for VERDICT_NONE. Never NULL. */
const char *verdict_name(enum verdict verdict);

/* The verdict of that name, or -1 when there is none. */
int verdict_parse(const char *name);

#endif
