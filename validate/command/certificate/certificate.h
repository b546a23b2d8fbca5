/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_CERTIFICATE_H
#define MUSTER_COMMAND_CERTIFICATE_H

#include <stdbool.h>

#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* The options of `muster certificate` and `muster revoke`, and their actions. */
struct certificate_options {
    const char *name;                           /* of the command, for messages */
    const char *action;                         /* if given by an option instead of a word */
    const char *config, *file, *node, *cluster; /* NULL: not given */
    const char *old_socket;                     /* of a munged with the previous key */
    const char *brake;                          /* "on", "off" */
    bool as_json, is_renew;
};

/* This node, and the place of its certificate. */
struct certificate_place {
    struct conf conf;
    char path[256];
    char node[INVENTORY_NAME * 4]; /* as by command_node() */
    struct inventory *inventory;
    char *fingerprint; /* the current one */
};

/* Reads the configuration and the node. Returns COMMAND_PASS, else another exit status after
 * printing a message. place is overwritten; release it with certificate_place_clear() in any case.
 */
int certificate_place_read(const struct certificate_options *options,
                           struct certificate_place *place);
void certificate_place_clear(struct certificate_place *place);

/* Returns the facts that a certificate of the node must match now; cluster NULL: not compared.
 * The texts are borrowed from place and cluster. */
struct certificate_facts certificate_place_facts(const struct certificate_place *place,
                                                 const char *cluster);

/* `muster certificate issue`, `renew`: return the exit status. */
int certificate_issue(const struct certificate_options *options);
int certificate_renew(const struct certificate_options *options);

/* Returns the state of the gate's brake on this node in one line, "" if the gate would not refuse;
 * malloc'd, or NULL if memory is out. */
char *certificate_brake_text(const struct certificate_place *place, enum certificate_state state,
                             const struct certificate *certificate);

/* `muster certificate --brake`: lifts the brake, or undoes this. Returns the exit status. */
int certificate_brake(const struct certificate_options *options);

/* Return the exit status of a certificate state, and the verdict of an exit status. */
int certificate_exit_status(enum certificate_state state);
enum verdict certificate_verdict(int status);

/* Prints the result of an action, as a record or as "node: what: message"; errors go to standard
 * error. run may be "". Returns the exit status. */
int certificate_report(const struct certificate_options *options,
                       const struct certificate_place *place, const char *run, int status,
                       const char *what, const char *message);

#endif
