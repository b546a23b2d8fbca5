/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_FIXTURE_H
#define MUSTER_TESTS_SPANK_HOST_FIXTURE_H

#include <slurm/spank.h>
#include <stdbool.h>

/* What the tests of the plugin share: a directory for muster.conf and the certificate, munge.c in
 * the place of libmunge, and certificates in every state. */

/* First in main(): starts the program again with the stand-in for libmunge before the real one.
 * Bails out of the test when that fails, and skips it when there is no plugin. */
void fixture_begin(char *argv[]);

/* Moves this process and its children into a network of their own, with three interfaces, and
 * over empty /run, /var/lib and /sys of it, so that no random setting of the prolog's reaches this
 * machine. Needs root. False when there are no namespaces to be had. */
bool fixture_isolate(void);

/* Last in main(). */
void fixture_end(void);

const char *fixture_plugin(void);    /* the path of spank_muster.so */
const char *fixture_directory(void); /* an empty one, root's, which everybody may read */

/* The path of a file there, good until the next call. */
const char *file(const char *name);

void write_file(const char *path, const char *text);

/* Loads the plugin for a context with this muster.conf; NULL: without. */
void start(spank_context_t context, const char *conf);

enum state { MISSING, EXPIRED, CHANGED, ALTERED, COPIED, OTHER_CLUSTER, VALID };

/* Puts a certificate of node n2, cluster lab, into file("certificate"); needs root. */
void put_certificate(enum state state);

#endif
