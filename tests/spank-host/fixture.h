/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_FIXTURE_H
#define MUSTER_TESTS_SPANK_HOST_FIXTURE_H

#include <slurm/spank.h>
#include <stdbool.h>

/* Common parts of the tests of the plugin: a directory for muster.conf and the certificate, munge.c
 * in place of libmunge, and certificates in every state. */

/* Call it first in main(). Executes the program again so that dlopen() finds the stand-in for
 * libmunge before the real one. Bails out if that fails; skips the test if there is no plugin. */
void fixture_begin(char *argv[]);

/* Moves this process into new network and mount namespaces with three interfaces, an empty /run, an
 * empty /var/lib, and a /sys of that network, so that settings which a prolog makes do not reach
 * this machine. Needs root. Returns false if the namespaces cannot be made. */
bool fixture_isolate(void);

/* Call it last in main(). Removes the directory. */
void fixture_end(void);

const char *fixture_plugin(void);    /* the path of spank_muster.so */
const char *fixture_directory(void); /* made for this test; everybody may read it */

/* The path of a file in the directory, valid until the next call. */
const char *fixture_path(const char *name);

void write_file(const char *path, const char *text);

/* Loads the plugin for a context with this text as muster.conf; NULL: no muster.conf. */
void fixture_load(spank_context_t context, const char *conf);

enum state { MISSING, EXPIRED, CHANGED, ALTERED, COPIED, OTHER_CLUSTER, VALID };

/* Writes a certificate of node n2, cluster lab, in this state to fixture_path("certificate"). Needs
 * root.
 */
void put_certificate(enum state state);

#endif
