/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_CERTIFICATE_H
#define MUSTER_COMMAND_CERTIFICATE_H

#include <stdbool.h>

#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* What the words after `muster certificate` and `muster revoke` say, and what follows from them. */
struct certificate_options {
    const char *name;                           /* of the command, for messages */
    const char *action;                         /* by an option, rather than by a word */
    const char *config, *file, *node, *cluster; /* NULL: not given */
    const char *old_socket;                     /* of a munged that has the key of before */
    const char *brake;                          /* "on", "off" */
    bool as_json, is_renew;
};

/* This node, and the certificate that it should have. */
struct certificate_place {
    struct conf conf;
    char path[256];
    char node[INVENTORY_NAME * 4]; /* as command_node() tells it */
    struct inventory *inventory;
    char *fingerprint; /* of now */
};

/* Reads configuration and node. Returns an exit status: COMMAND_PASS, else a message is printed.
 * place is overwritten; release it with certificate_place_clear() in any case. */
int certificate_place_read(const struct certificate_options *options,
                           struct certificate_place *place);
void certificate_place_clear(struct certificate_place *place);

/* What a certificate of that node is held against now; cluster NULL is not compared. Borrowed from
 * both. */
struct certificate_facts certificate_place_facts(const struct certificate_place *place,
                                                 const char *cluster);

/* `muster certificate issue`, `renew`: return the exit status. */
int certificate_issue(const struct certificate_options *options);
int certificate_renew(const struct certificate_options *options);

/* The gate's brake on this node in one line, "" where the gate would not refuse; malloc'd, or NULL
 * when memory is out. */
char *certificate_brake_text(const struct certificate_place *place, enum certificate_state state,
                             const struct certificate *certificate);

/* `muster certificate --brake`: lifts it or takes that back. Returns the exit status. */
int certificate_brake(const struct certificate_options *options);

/* The exit status that a state stands for, and the verdict that an exit status does. */
int certificate_exit_status(enum certificate_state state);
enum verdict certificate_verdict(int status);

/* Prints what came of an action, as a record or for a person: "node: what: message", on standard
 * error what is no success. run may be "". Returns the exit status. */
int certificate_report(const struct certificate_options *options,
                       const struct certificate_place *place, const char *run, int status,
                       const char *what, const char *message);

#endif
