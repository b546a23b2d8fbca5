/* SPDX-License-Identifier: Apache-2.0 */
/* completions - provokes each failure of a work request between two ports of this machine, and
 * prints muster's message for each, one per line: completions rxe1 rxe2. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fabric/fabric.h"
#include "validate/battery/verbs/flow.h"

enum fault { NO_RECEIVE, WRONG_KEY, WRONG_LOCAL_KEY, NO_PEER, TOO_LONG };

static struct verbs_port *open_port(const struct fabric *fabric, const char *device)
{
    struct verbs_port *port;
    struct error err;

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];

        if (!rail->port || strcmp(rail->port->device, device) != 0)
            continue;
        if (verbs_port_open(rail->port, rail->gid_index, &port, &err) == 0)
            return port;
        fprintf(stderr, "completions: %s\n", err.text);
        exit(1);
    }
    fprintf(stderr, "completions: there is no %s\n", device);
    exit(1);
}

static void inject(enum fault fault, struct verbs_link *from, struct verbs_link *to,
                   struct error *err)
{
    if (fault == WRONG_KEY)
        from->peer.key ^= 0x5555;
    if (fault == WRONG_LOCAL_KEY) {
        from->region->lkey ^= 0x5555;
        from->inline_bytes = 0;
    }
    if (fault == NO_PEER)
        ibv_destroy_qp(to->pairs[0]), to->pairs[0] = NULL;
    if (fault == TOO_LONG) {
        to->message_bytes = 0; /* its buffers hold a header only */
        verbs_link_fill(to, err);
    }
}

static int provoke(const char *name, enum fault fault, enum verb verb, struct verbs_port *ports[2])
{
    const struct path_plan plan = {.samples = 1, .connect_s = 8, .timeout_s = 8};
    struct verbs_settings settings = verbs_defaults();
    struct verbs_stream stream = {.message_bytes = 4096};
    struct verbs_link *from = NULL, *to = NULL;
    struct verbs_address from_address, to_address;
    struct error err = {""};
    int failed = -1;

    if (verbs_link_open(ports[0], verb, &settings, 4096, NULL, &from, &err) == 0 &&
        verbs_link_open(ports[1], verb, &settings, 4096, NULL, &to, &err) == 0) {
        verbs_link_address(from, &from_address);
        verbs_link_address(to, &to_address);
        if (verbs_link_connect(from, &to_address, "there", 0, &err) == 0 &&
            verbs_link_connect(to, &from_address, "here", 0, &err) == 0) {
            inject(fault, from, to, &err);
            stream.link = from;
            failed = verbs_run(&stream, 1, 0.01, 1, plan.timeout_s, &err);
        }
    }
    printf("%s: %s\n", name, failed ? err.text : "nothing failed");
    verbs_link_close(from);
    verbs_link_close(to);
    return 0;
}

int main(int argc, char **argv)
{
    struct verbs_port *ports[2];
    struct inventory *inventory;
    struct fabric *fabric = calloc(1, sizeof *fabric);
    struct error err;

    if (argc != 3 || !fabric)
        return 2;
    inventory = inventory_read("", &err);
    if (!inventory)
        return 1;
    fabric_choose(inventory, NULL, fabric);
    for (int i = 0; i < 2; i++)
        ports[i] = open_port(fabric, argv[i + 1]);
    provoke("no receive", NO_RECEIVE, VERB_SEND, ports);
    provoke("wrong key", WRONG_KEY, VERB_WRITE, ports);
    provoke("wrong key of read", WRONG_KEY, VERB_READ, ports);
    provoke("wrong local key", WRONG_LOCAL_KEY, VERB_WRITE, ports);
    provoke("too long", TOO_LONG, VERB_SEND, ports);
    provoke("no peer", NO_PEER, VERB_WRITE, ports);
    for (int i = 0; i < 2; i++)
        verbs_port_close(ports[i]);
    inventory_free(inventory);
    free(fabric);
    return 0;
}
