/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/deferred_error.h"
#include "lib/base/memory_stream.h"
#include "lib/certificate/fingerprint.h"
#include "lib/fabric/fabric.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* Writes one line and makes it printable: a driver may put anything into sysfs, and a certificate
 * must not have control characters. */
static void line(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(FILE *stream, const char *format, ...)
{
    char text[512];

    TEXT_FORMAT(text, sizeof text, format);
    text_make_ascii(text);
    fprintf(stream, "%s\n", text);
}

/* Formats " label value", or "" if the value is not known. Returns text. */
static const char *labelled(const char *label, const char *value, char *text, size_t size)
{
    if (*value)
        snprintf(text, size, " %s %s", label, value);
    else
        *text = '\0';
    return text;
}

static bool is_nic_included(const struct nic *nic, const char *const *names, size_t name_count)
{
    for (size_t i = 0; i < name_count; i++)
        if (names[i] && strcmp(nic->name, names[i]) == 0)
            return true;
    /* virtual functions and veth pairs come and go with containers, and Ethernet over USB when the
     * service processor is restarted */
    return nic->is_physical && nic->bus[0] && strcmp(nic->bus, "usb") != 0 &&
           !nic->is_virtual_function;
}

/* Returns whether the prolog sets this setting, and the value. Jobs and certification run with
 * this value, but the gate reads the node before the prolog sets it. */
static bool is_set_by_prolog(const struct conf *conf, const char *interface,
                             enum netif_setting setting, long *value)
{
    return conf &&
           netif_line_find(conf->netif_lines, conf->netif_line_count, interface, setting, value);
}

static void nic_line(FILE *stream, const struct nic *nic, const struct conf *conf)
{
    bool is_brought_up = is_set_by_prolog(conf, nic->name, NETIF_UP, NULL);
    char speed[32] = "", mac[INVENTORY_NAME + 8] = "";
    long mtu_bytes = nic->mtu_bytes;

    is_set_by_prolog(conf, nic->name, NETIF_MTU, &mtu_bytes);
    /* a link that the prolog brings up has no speed before */
    if (nic->speed_mbps >= 0 && !is_brought_up)
        snprintf(speed, sizeof speed, " %dMb/s", nic->speed_mbps);
    /* a MAC identifies a card; without a card it is random at each start, and IPoIB's contains a
     * queue pair's number */
    if (nic->bus[0] && nic->arp_type == 1)
        labelled("mac", nic->mac, mac, sizeof mac);
    line(stream, "nic %s: %s %s%s mtu %ld%s %s", nic->name, nic->driver[0] ? nic->driver : "-",
         nic->location.pci[0] ? nic->location.pci : "-", speed, mtu_bytes, mac,
         is_brought_up || nic_has_link(nic) ? "up" : "down");
}

static void rdma_line(FILE *stream, const struct rdma_port *port, const struct conf *conf)
{
    bool is_brought_up = is_set_by_prolog(conf, port->netdev, NETIF_UP, NULL);
    char rate[48] = "", firmware[INVENTORY_NAME + 8], guid[INVENTORY_NAME + 8] = "";

    if (port->rate_gbps >= 0 && !is_brought_up)
        snprintf(rate, sizeof rate, " %gGb/s", port->rate_gbps);
    /* the second half of an InfiniBand GID is the port's GUID, the first the subnet's prefix */
    if (port->link_layer == LINK_INFINIBAND && port->gid_count > 0 &&
        strlen(port->gids[0].gid) == 39)
        labelled("guid", port->gids[0].gid + 20, guid, sizeof guid);
    line(stream, "rdma %s:%d: %s%s %s %s%s%s", port->device, port->port,
         is_brought_up    ? "ACTIVE"
         : port->state[0] ? port->state
                          : "unknown",
         rate, port->driver[0] ? port->driver : "-",
         port->location.pci[0] ? port->location.pci : "-",
         labelled("fw", port->firmware, firmware, sizeof firmware), guid);
}

static void gpu_line(FILE *stream, const struct inventory *inventory, const struct gpu *gpu)
{
    const char *version = inventory->gpu_drivers[gpu->vendor];
    char serial[INVENTORY_NAME + 16], firmware[INVENTORY_NAME + 16], driver[INVENTORY_NAME + 16];
    char version_text[INVENTORY_NAME + 16];

    line(stream, "gpu %s: %s %s%s%s%s%s", gpu->location.pci, gpu_vendor_name(gpu->vendor),
         gpu->model[0] ? gpu->model : "-", labelled("serial", gpu->serial, serial, sizeof serial),
         labelled("fw", gpu->firmware, firmware, sizeof firmware),
         labelled("driver", gpu->driver, driver, sizeof driver),
         gpu->driver[0] ? labelled("version", version, version_text, sizeof version_text) : "");
}

char *fingerprint_text(const struct inventory *inventory, const char *const *names,
                       size_t name_count, const struct conf *conf)
{
    char *text = NULL;
    size_t length;
    FILE *stream = memory_stream(&text, &length);

    if (!stream)
        return NULL;
    line(stream, "kernel: %s", inventory->kernel);
    line(stream, "cpus: %d", inventory->cpu_count);
    line(stream, "numa nodes: %d", inventory->numa_node_count);
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (is_nic_included(&inventory->nics[i], names, name_count))
            nic_line(stream, &inventory->nics[i], conf);
    for (size_t i = 0; i < inventory->rdma_count; i++)
        if (!inventory->rdma[i].is_virtual_function)
            rdma_line(stream, &inventory->rdma[i], conf);
    for (size_t i = 0; i < inventory->gpu_count; i++)
        gpu_line(stream, inventory, &inventory->gpus[i]);
    fclose(stream);
    return text;
}

char *fingerprint_node(const struct inventory *inventory, const struct conf *conf)
{
    struct fabric *fabric = malloc(sizeof *fabric); /* large for a stack */
    const char *names[INVENTORY_NICS + 1];
    size_t count = 0;
    char *text;

    if (!fabric)
        return NULL;
    deferred_error_take();
    fabric_choose(inventory, conf, fabric);
    for (size_t i = 0; i < fabric->rail_count; i++)
        if (fabric->rails[i].nic)
            names[count++] = fabric->rails[i].nic->name;
    if (fabric->management)
        names[count++] = fabric->management->name;
    text = fingerprint_text(inventory, names, count, conf);
    free(fabric);
    /* with a partly read fabric the node would look like another node */
    if (deferred_error_take() != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* One line of a fingerprint: "key: value". Points into the text. */
struct fact {
    const char *key, *value;
    size_t key_length, value_length;
};

/* Reads the next line and advances text. Returns false if there is none. */
static bool next_fact(const char **text, struct fact *fact)
{
    const char *end, *colon;
    size_t length;

    while (**text == '\n')
        (*text)++;
    if (!**text)
        return false;
    length = strcspn(*text, "\n");
    end = *text + length;
    colon = memmem(*text, length, ": ", 2);
    fact->key = *text;
    fact->key_length = (size_t)((colon ? colon : end) - *text);
    fact->value = colon ? colon + 2 : end;
    fact->value_length = (size_t)(end - fact->value);
    *text = end;
    return true;
}

static bool find_fact(const char *text, const struct fact *wanted, struct fact *found)
{
    while (next_fact(&text, found))
        if (found->key_length == wanted->key_length &&
            memcmp(found->key, wanted->key, wanted->key_length) == 0)
            return true;
    return false;
}

/* Returns the number of bytes of the equal words at the beginning of both values, without the last
 * such word: it is the label of the difference. */
static size_t common_words(const struct fact *a, const struct fact *b)
{
    size_t word = 0, before = 0;

    for (size_t i = 0; i < a->value_length && i < b->value_length; i++) {
        if (a->value[i] != b->value[i])
            break;
        if (a->value[i] == ' ') {
            before = word;
            word = i + 1;
        }
    }
    return before;
}

static void append_difference(const struct fact *then, const struct fact *now, char *message,
                              size_t size)
{
    const struct fact *key = then ? then : now;

    text_join(message, size, "; ", "%.*s: ", (int)key->key_length, key->key);
    if (!now) {
        text_join(message, size, "", "gone");
    } else if (!then) {
        text_join(message, size, "", "new");
    } else {
        size_t common = common_words(then, now);
        const char *dots = common ? "... " : "";

        text_join(message, size, "", "was %s%.*s, is %s%.*s", dots,
                  (int)(then->value_length - common), then->value + common, dots,
                  (int)(now->value_length - common), now->value + common);
    }
}

/* Returns the position of a label with its value in a GPU's value, or NULL. *length is their
 * length, up to the next label. */
static char *find_labelled(char *text, const char *label, size_t *length)
{
    static const char *const next[] = {" fw ", " driver "};
    char *begin = strstr(text, label), *end;

    *length = begin ? strlen(begin) : 0;
    for (size_t i = 0; begin && i < sizeof next / sizeof *next; i++) {
        end = strstr(begin + strlen(label) - 1, next[i]);
        if (end && (size_t)(end - begin) < *length)
            *length = (size_t)(end - begin);
    }
    return begin;
}

/* Compares two GPU values, without serial or firmware if one value lacks it: the driver reports
 * them only while somebody uses the GPU. Older fingerprints have question marks instead. */
static bool is_same_gpu(const struct fact *a, const struct fact *b)
{
    static const char *const labels[] = {" serial ", " fw "};
    char texts[2][512];

    snprintf(texts[0], sizeof texts[0], "%.*s", (int)a->value_length, a->value);
    snprintf(texts[1], sizeof texts[1], "%.*s", (int)b->value_length, b->value);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        size_t lengths[2];
        char *found[2];
        bool is_stated = true;

        for (int k = 0; k < 2; k++) {
            found[k] = find_labelled(texts[k], labels[i], &lengths[k]);
            is_stated = is_stated && found[k] && !memchr(found[k], '?', lengths[k]);
        }
        for (int k = 0; k < 2; k++)
            if (!is_stated && found[k])
                memmove(found[k], found[k] + lengths[k], strlen(found[k] + lengths[k]) + 1);
    }
    return strcmp(texts[0], texts[1]) == 0;
}

static bool is_same_value(const struct fact *a, const struct fact *b)
{
    return (a->value_length == b->value_length &&
            memcmp(a->value, b->value, a->value_length) == 0) ||
           (strncmp(a->key, "gpu ", strlen("gpu ")) == 0 && is_same_gpu(a, b));
}

/* As fingerprint_compare(); *first is the first line that differs. */
static int compare(const char *then, const char *now, char *message, size_t size,
                   struct fact *first)
{
    enum { NAMED = 3 }; /* further differences are only counted */
    struct fact old, new;
    const char *rest;
    int count = 0;

    *message = '\0';
    for (rest = then; next_fact(&rest, &old);) {
        bool is_there = find_fact(now, &old, &new);

        if (is_there && is_same_value(&old, &new))
            continue;
        if (count == 0)
            *first = old;
        if (count++ < NAMED)
            append_difference(&old, is_there ? &new : NULL, message, size);
    }
    for (rest = now; next_fact(&rest, &new);) {
        if (find_fact(then, &new, &old))
            continue;
        if (count == 0)
            *first = new;
        if (count++ < NAMED)
            append_difference(NULL, &new, message, size);
    }
    if (count > NAMED)
        text_join(message, size, "; ", "and %d more", count - NAMED);
    return count;
}

int fingerprint_compare(const char *then, const char *now, char *message, size_t message_size)
{
    struct fact first;

    return compare(then, now, message, message_size, &first);
}

void fingerprint_first_difference(const char *then, const char *now, char *key, size_t size)
{
    struct fact first = {.key = ""};
    char message[1];

    compare(then, now, message, sizeof message, &first);
    snprintf(key, size, "%.*s", (int)first.key_length, first.key);
}
