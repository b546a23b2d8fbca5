/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/subnet.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

/* The format of ibnetdiscover, which no document specifies: infiniband-diags' ibnetdiscover.c
 * writes it, and ibsim's sim_net.c reads it. A device is
 *
 *     vendid=0x2c9
 *     switchguid=0x2c9020040ee10(2c9020040ee10)
 *     Switch  36 "S-0002c9020040ee10"    # "leaf1" enhanced port 0 lid 2 lmc 0
 *     [1]     "H-0002c903000e0b72"[1](2c903000e0b73)    # "n1 mlx5_0" lid 4 4xHDR
 *
 * and an adapter's port is [1](guid), with its own lid before that of the switch. Devices refer to
 * later ones, so links are made after all devices are read. */

enum { PORTS_MAX = 254, ID_MAX = 64 };

struct line_link {
    int line, device, port;
    char peer[ID_MAX];
    int peer_port;
    struct subnet_rate active;
};

struct parser {
    struct subnet *subnet;
    struct hsearch_data table; /* from the quoted ID to the index of the device plus one */
    char **ids;                /* the keys of the table */
    size_t id_count;
    struct line_link *links;
    size_t link_count;
    int line, device; /* the device whose record this is, -1: none yet */
    uint64_t guid;    /* from the last ...guid= line, 0: none */
    int model;        /* from the last devid= line, 0: none */
    int unread;       /* errno of a failed read, else 0 */
    struct error *err;
};

/* Copies the next quoted text, and moves *text past it. Returns NULL if there is none. */
static const char *take_quoted(const char **text, char *to, size_t size)
{
    const char *begin = strchr(*text, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;

    if (!end || end - begin - 1 >= (long)size)
        return NULL;
    snprintf(to, size, "%.*s", (int)(end - begin - 1), begin + 1);
    *text = end + 1;
    return to;
}

/* Parses "[12]", and moves *text past it. Returns -1 if it is something else. */
static int take_number(const char **text)
{
    char *end;
    long number;

    if (**text != '[' || !isdigit((unsigned char)(*text)[1]))
        return -1;
    number = strtol(*text + 1, &end, 10);
    if (*end != ']' || number < 1 || number > PORTS_MAX)
        return -1;
    *text = end + 1;
    return (int)number;
}

/* Returns the rate of the last word like "4xHDR" outside of quotes; lanes 0 if there is none. */
static struct subnet_rate find_rate(const char *text)
{
    struct subnet_rate rate = {0};
    bool is_quoted = false;

    for (const char *at = text; *at; at++) {
        char *end;
        long lanes;
        int speed;

        is_quoted ^= *at == '"';
        if (is_quoted || !isdigit((unsigned char)*at) || at == text || at[-1] != ' ')
            continue;
        lanes = strtol(at, &end, 10);
        speed = *end == 'x' ? subnet_speed_parse(end + 1, strcspn(end + 1, " \t\n")) : 0;
        if (speed > 0 && lanes > 0 && lanes <= 12)
            rate = (struct subnet_rate){(int)lanes, speed};
    }
    return rate;
}

static int remember(struct parser *parser, const char *id)
{
    size_t count = parser->subnet->device_count;
    ENTRY entry = {.key = strdup(id), .data = (void *)(uintptr_t)count}, *found;

    if (!GROW(parser->ids, parser->id_count) || !entry.key) {
        free(entry.key);
        return error_set(parser->err, "out of memory for the subnet");
    }
    parser->ids[parser->id_count++] = entry.key;
    if (hsearch_r(entry, FIND, &found, &parser->table))
        return error_set(parser->err, "\"%s\" a second time", id);
    if (!hsearch_r(entry, ENTER, &found, &parser->table))
        return error_set(parser->err, "out of memory for so many devices");
    return 0;
}

/* Returns the GUID in an ID like "S-0002c9020040ee10", else `stated`. */
static uint64_t guid_of(const char *id, uint64_t stated)
{
    char *end;
    uint64_t guid = strlen(id) == 18 && id[1] == '-' ? strtoull(id + 2, &end, 16) : 0;

    return guid && !*end ? guid : stated;
}

static int read_device(struct parser *parser, enum subnet_kind kind, const char *text)
{
    char id[ID_MAX], description[256] = "";
    const char *comment;
    char *end;
    long ports = strtol(text, &end, 10);
    uint64_t guid;

    if (end == text || ports < 1 || ports > PORTS_MAX)
        return error_set(parser->err, "expected a number of ports from 1 to %d", PORTS_MAX);
    text = end;
    if (!take_quoted(&text, id, sizeof id))
        return error_set(parser->err, "expected \"ID\" of at most %d characters", ID_MAX - 1);
    comment = strchr(text, '#');
    if (!comment || !take_quoted(&comment, description, sizeof description))
        snprintf(description, sizeof description, "%s", id);
    guid = guid_of(id, parser->guid);
    parser->guid = 0;
    parser->device = subnet_add(parser->subnet, kind, guid, guid ? NULL : id, description,
                                (int)ports, parser->err);
    if (parser->device < 0)
        return -1;
    parser->subnet->devices[parser->device].model = parser->model;
    parser->model = 0;
    return remember(parser, id);
}

static int read_port(struct parser *parser, const char *text)
{
    struct line_link link = {.line = parser->line, .device = parser->device};

    if (parser->device < 0)
        return error_set(parser->err, "a port before the first Switch, Ca or Rt");
    link.port = take_number(&text);
    if (link.port < 0 || !take_quoted(&text, link.peer, sizeof link.peer))
        return error_set(parser->err, "expected [PORT] \"ID\"[PORT], a port from 1 to %d",
                         PORTS_MAX);
    link.peer_port = *text == '[' ? take_number(&text) : 1;
    if (link.peer_port < 0)
        return error_set(parser->err, "expected [PORT] \"ID\"[PORT], a port from 1 to %d",
                         PORTS_MAX);
    link.active = find_rate(text);
    if (!GROW(parser->links, parser->link_count))
        return error_set(parser->err, "out of memory for the subnet");
    parser->links[parser->link_count++] = link;
    return 0;
}

static bool begins(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncasecmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static int read_line(struct parser *parser, const char *text)
{
    if (*text == '[')
        return read_port(parser, text);
    if (begins(&text, "Switch\t") || begins(&text, "Switch "))
        return read_device(parser, SUBNET_SWITCH, text);
    if (begins(&text, "Ca\t") || begins(&text, "Ca ") || begins(&text, "Hca\t") ||
        begins(&text, "Hca "))
        return read_device(parser, SUBNET_ADAPTER, text);
    if (begins(&text, "Rt\t") || begins(&text, "Rt ") || begins(&text, "Router "))
        return read_device(parser, SUBNET_ROUTER, text);
    if (begins(&text, "switchguid=") || begins(&text, "caguid=") || begins(&text, "rtguid=")) {
        parser->guid = strtoull(text, NULL, 16);
        return 0;
    }
    if (begins(&text, "devid=")) {
        parser->model = (int)(strtoul(text, NULL, 16) & 0xffff);
        return 0;
    }
    if (!*text || *text == '#' || begins(&text, "vendid=") || begins(&text, "sysimgguid=") ||
        begins(&text, "Chassis ") || begins(&text, "Hostname:"))
        return 0;
    return error_set(parser->err, "expected output of ibnetdiscover, found '%.60s'", text);
}

static int connect_line(struct parser *parser, const struct line_link *link)
{
    ENTRY key = {.key = (char *)link->peer}, *found;
    struct subnet_port *port, *peer;

    if (!hsearch_r(key, FIND, &found, &parser->table))
        return error_set(parser->err, "\"%s\" has no record of its own in this file", link->peer);
    port = subnet_port(parser->subnet, link->device, link->port);
    peer = subnet_port(parser->subnet, (int)(uintptr_t)found->data - 1, link->peer_port);
    if (!port || !peer)
        return error_set(parser->err, "no port %d on %s", port ? link->peer_port : link->port,
                         port ? link->peer : "this device");
    port->active = link->active;
    return subnet_link(parser->subnet, port, peer, parser->err);
}

/* Gives a port without a rate the rate of its peer. */
static void share_rates(struct subnet *subnet)
{
    for (size_t i = 0; i < subnet->port_count; i++)
        if (subnet->ports[i].peer >= 0 && subnet->ports[i].active.lanes == 0)
            subnet->ports[i].active = subnet->ports[subnet->ports[i].peer].active;
}

static int read_lines(struct parser *parser, FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int rv = 0;

    while (rv == 0 && (length = getline(&text, &size, file)) >= 0) {
        parser->line++;
        while (length > 0 && isspace((unsigned char)text[length - 1]))
            text[--length] = '\0';
        rv = read_line(parser, text);
    }
    parser->unread = ferror(file) ? errno : 0;
    free(text);
    for (size_t i = 0; rv == 0 && i < parser->link_count; i++) {
        parser->line = parser->links[i].line;
        rv = connect_line(parser, &parser->links[i]);
    }
    if (rv == 0)
        share_rates(parser->subnet);
    return rv;
}

int subnet_read_text(const char *path, struct subnet *subnet, struct error *err)
{
    enum { DEVICES_MAX = 262144 };
    struct parser parser = {.subnet = subnet, .device = -1, .err = err};
    FILE *file = fopen(path, "re");
    size_t before = subnet->device_count;
    int rv;

    if (!file)
        return error_set(err, "%s: %m", path);
    if (!hcreate_r(DEVICES_MAX, &parser.table)) {
        fclose(file);
        return error_set(err, "out of memory for the subnet");
    }
    text_join(subnet->source, sizeof subnet->source, ", ", "%s", path);
    rv = read_lines(&parser, file);
    if (rv != 0)
        error_prefix(err, "%s:%d", path, parser.line);
    else if (parser.unread)
        rv = error_set(err, "%s: %s", path, strerror(parser.unread));
    else if (subnet->device_count == before)
        rv = error_set(err, "%s: no Switch or Ca in it", path);
    fclose(file);
    hdestroy_r(&parser.table);
    for (size_t i = 0; i < parser.id_count; i++)
        free(parser.ids[i]);
    free(parser.ids);
    free(parser.links);
    return rv;
}
