/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/hostlist.h"
#include "lib/base/memory_stream.h"
#include "lib/base/record.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"
#include "lib/netif/netif_journal.h"
#include "tests/unit/poor_memory.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text made in memory is complete, or there is none. Half a text would be another node's
 * fingerprint, an invalid certificate, a list without some nodes, or a record that cannot be
 * parsed. */

static char *fingerprint(const void *inventory)
{
    return fingerprint_text(inventory, NULL, 0, NULL);
}

static char *node_fingerprint(const void *inventory)
{
    return fingerprint_node(inventory, NULL);
}

/* 192 ports, as a node with eight Gaudi cards has. */
static struct inventory *large_node(void)
{
    struct inventory *inventory = calloc(1, sizeof *inventory);

    strcpy(inventory->kernel, "6.1.0-13-amd64");
    for (int i = 0; i < 192; i++) {
        struct rdma_port *port = &inventory->rdma[inventory->rdma_count++];
        struct nic *nic = &inventory->nics[inventory->nic_count++];

        snprintf(port->device, sizeof port->device, "hbl_%d", i / 24);
        port->port = i % 24 + 1;
        strcpy(port->driver, "habanalabs");
        strcpy(port->state, "ACTIVE");
        port->rate_gbps = 200;
        snprintf(nic->name, sizeof nic->name, "acc%d", i);
        strcpy(nic->driver, "habanalabs_en");
        strcpy(nic->bus, "pci");
        strcpy(nic->mac, "b0:fd:0b:d6:11:22");
        nic->arp_type = 1;
        nic->is_physical = nic->is_up = nic->has_carrier = true;
    }
    return inventory;
}

static char *certificate(const void *of)
{
    return certificate_format(of);
}

static char *journal(const void *of)
{
    return journal_format(of);
}

static char *folded(const void *of)
{
    return hostlist_fold(of);
}

static char *record_line(const void *of)
{
    char *text;
    size_t size;
    FILE *stream = memory_stream(&text, &size);
    int rv = stream ? record_write(stream, of) : -1;

    if (stream)
        fclose(stream);
    if (rv == 0)
        return text;
    free(text);
    return NULL;
}

/* Adds names without a number, which do not fold, and some with one. */
static void make_names(struct hostlist *names)
{
    char name[16];

    for (int i = 0; i < 26 * 26 * 5; i++) {
        snprintf(name, sizeof name, "node-%c%c%c", 'a' + i / 26 / 26, 'a' + i / 26 % 26,
                 'a' + i % 26);
        hostlist_append(names, name);
    }
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "n%d", 2 * i);
        hostlist_append(names, name);
    }
}

static void make_journal(struct netif_journal *made)
{
    char interface[NETIF_NAME];
    bool failed = false;

    strcpy(made->boot_id, "571a17f9-6ccc-4226-a5af-f9f96bf0af61");
    for (int i = 0; i < 600; i++) {
        snprintf(interface, sizeof interface, "eth%d", i);
        entry_add_job(journal_add(made, interface, i + 1, NETIF_MTU, 1500, 9000), 12, &failed);
    }
}

int main(void)
{
    struct certificate large = {.node = "n3",
                                .cluster = "lab",
                                .level = "standard",
                                .issued = 1795190000,
                                .expires = 1795794800};
    struct inventory *inventory = large_node();
    struct netif_journal settings = {.count = 0};
    struct hostlist names = {0};
    char message[MIN_BYTES + 1] = "";
    struct record record = RECORD(.node = "n3", .message = message, .time = 1795190000);

    is_complete_or_null("a fingerprint", fingerprint, inventory);
    is_complete_or_null("a node's fingerprint", node_fingerprint, inventory);
    large.fingerprint = fingerprint(inventory);
    is_complete_or_null("a certificate", certificate, &large);
    make_journal(&settings);
    is_complete_or_null("the journal of interfaces", journal, &settings);
    make_names(&names);
    is_complete_or_null("a list of names", folded, &names);
    memset(message, 'x', MIN_BYTES);
    is_complete_or_null("a record", record_line, &record);
    hostlist_clear(&names);
    journal_clear(&settings);
    free(large.fingerprint);
    free(inventory);
    return tap_done();
}
