/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/netif.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

static const struct setting {
    const char *name;
    long minimum, maximum;                 /* in muster.conf */
    long journal_minimum, journal_maximum; /* of values that the kernel may have had before */
    const char *words[3];                  /* words for the values 0, 1, 2 instead of numbers */
} settings[NETIF_SETTINGS] = {
    [NETIF_RX_RING] = {"rx-ring", 1, 1 << 20, 1, 1L << 30, {0}},
    [NETIF_TX_RING] = {"tx-ring", 1, 1 << 20, 1, 1L << 30, {0}},
    [NETIF_TXQUEUELEN] = {"txqueuelen", 1, 1000000, 0, 4294967295L, {0}},
    /* below 1280 the kernel removes IPv6 and its addresses from the interface (RFC 8200, 5) */
    [NETIF_MTU] = {"mtu", 1280, 65535, 1, 2147483647L, {0}},
    [NETIF_ARP_IGNORE] = {"arp_ignore", 0, 8, 0, 8, {0}},
    [NETIF_ARP_ANNOUNCE] = {"arp_announce", 0, 2, 0, 2, {0}},
    [NETIF_ARP_FILTER] = {"arp_filter", 0, 1, 0, 1, {0}},
    [NETIF_RP_FILTER] = {"rp_filter", 0, 2, 0, 2, {0}},
    [NETIF_ACCEPT_LOCAL] = {"accept_local", 0, 1, 0, 1, {0}},
    [NETIF_ROCE_CONFIG] = {"roce-config", 0, 1, 0, 1, {"no", "yes"}},
    [NETIF_ROCE_MODE] = {"roce-mode", 1, 2, 1, 2, {NULL, "v1", "v2"}},
    [NETIF_ROCE_TOS] = {"roce-tos", 0, 255, 0, 255, {0}},
    [NETIF_TRAFFIC_CLASS] = {"traffic-class", -1, 255, -1, 255, {0}},
    [NETIF_PFC] = {"pfc", 0, 255, 0, 255, {0}},
    [NETIF_DSCP... NETIF_DSCP_LAST] = {"dscp", 0, 255, 0, 255, {0}},
    [NETIF_UP] = {"up", 1, 1, 0, 1, {"no", "yes"}},
    [NETIF_ADDRESS] = {"address", 0, 0, 0, 0, {0}},
};

static const char *const dscp_names[64] = {
    "dscp0",  "dscp1",  "dscp2",  "dscp3",  "dscp4",  "dscp5",  "dscp6",  "dscp7",
    "dscp8",  "dscp9",  "dscp10", "dscp11", "dscp12", "dscp13", "dscp14", "dscp15",
    "dscp16", "dscp17", "dscp18", "dscp19", "dscp20", "dscp21", "dscp22", "dscp23",
    "dscp24", "dscp25", "dscp26", "dscp27", "dscp28", "dscp29", "dscp30", "dscp31",
    "dscp32", "dscp33", "dscp34", "dscp35", "dscp36", "dscp37", "dscp38", "dscp39",
    "dscp40", "dscp41", "dscp42", "dscp43", "dscp44", "dscp45", "dscp46", "dscp47",
    "dscp48", "dscp49", "dscp50", "dscp51", "dscp52", "dscp53", "dscp54", "dscp55",
    "dscp56", "dscp57", "dscp58", "dscp59", "dscp60", "dscp61", "dscp62", "dscp63",
};

bool netif_is_dscp(enum netif_setting setting)
{
    return setting >= NETIF_DSCP && setting <= NETIF_DSCP_LAST;
}

static bool is_priorities(enum netif_setting setting)
{
    return setting == NETIF_PFC || netif_is_dscp(setting);
}

const char *netif_setting_name(enum netif_setting setting)
{
    if (netif_is_dscp(setting))
        return dscp_names[setting - NETIF_DSCP];
    return (unsigned)setting < NETIF_SETTINGS ? settings[setting].name : "unknown";
}

int netif_setting_parse(const char *name)
{
    for (int i = 0; i < NETIF_SETTINGS; i++)
        if (strcmp(name, netif_setting_name((enum netif_setting)i)) == 0)
            return i;
    return -1;
}

static bool has_words(enum netif_setting setting)
{
    return settings[setting].words[1] != NULL;
}

/* Formats "none", "3", "3+4"; not with commas, as these separate values in the journal. */
static void format_priorities(long value, char *text, size_t size)
{
    *text = '\0';
    for (int priority = 0; priority < 8; priority++)
        if (value & 1L << priority)
            text_join(text, size, "+", "%d", priority);
    if (!*text)
        snprintf(text, size, "none");
}

static bool parse_priorities(const char *text, long *value)
{
    *value = 0;
    if (strcasecmp(text, "none") == 0)
        return true;
    for (;; text += 2) {
        if (*text < '0' || *text > '7' || *value & 1L << (*text - '0'))
            return false;
        *value |= 1L << (*text - '0');
        if (!text[1])
            return true;
        if (text[1] != '+')
            return false;
    }
}

void netif_value_format(enum netif_setting setting, long value, char *text, size_t size)
{
    if (is_priorities(setting)) {
        format_priorities(value, text, size);
        return;
    }
    if (setting == NETIF_TRAFFIC_CLASS && value < 0)
        snprintf(text, size, "none");
    else if (has_words(setting) && value >= 0 && value <= 2 && settings[setting].words[value])
        snprintf(text, size, "%s", settings[setting].words[value]);
    else
        snprintf(text, size, "%ld", value);
}

static void allowed_text(enum netif_setting setting, char *text, size_t size)
{
    const struct setting *this = &settings[setting];

    if (setting == NETIF_ADDRESS)
        snprintf(text, size, "require|PREFIX");
    else if (setting == NETIF_PFC)
        snprintf(text, size, "none|0-7[+0-7...]");
    else if (netif_is_dscp(setting))
        snprintf(text, size, "none|0-7");
    else if (setting == NETIF_TRAFFIC_CLASS)
        snprintf(text, size, "none|0-%ld", this->maximum);
    else if (has_words(setting) && this->minimum < this->maximum)
        snprintf(text, size, "%s|%s", this->words[this->minimum], this->words[this->maximum]);
    else if (has_words(setting))
        snprintf(text, size, "%s", this->words[this->minimum]);
    else
        snprintf(text, size, "%ld-%ld", this->minimum, this->maximum);
}

int netif_value_parse(enum netif_setting setting, const char *text, bool is_journal, long *value,
                      struct error *err)
{
    const struct setting *this = &settings[setting];
    long minimum = is_journal ? this->journal_minimum : this->minimum;
    long maximum = is_journal ? this->journal_maximum : this->maximum;
    char allowed[64];
    char *end;
    long number;

    if (is_priorities(setting)) {
        if (parse_priorities(text, value) &&
            (is_journal || !netif_is_dscp(setting) || (*value & (*value - 1)) == 0))
            return 0;
        allowed_text(setting, allowed, sizeof allowed);
        return error_set(err, "found %s=\"%.60s\", allowed %s", netif_setting_name(setting), text,
                         allowed);
    }
    if (setting == NETIF_TRAFFIC_CLASS && strcasecmp(text, "none") == 0) {
        *value = -1;
        return 0;
    }
    for (long word = minimum; has_words(setting) && word <= maximum; word++)
        if (this->words[word] && strcasecmp(text, this->words[word]) == 0) {
            *value = word;
            return 0;
        }
    errno = 0;
    number = strtol(text, &end, 10);
    if (has_words(setting) || *text < '0' || *text > '9' || *end || errno || number < minimum ||
        number > maximum) {
        allowed_text(setting, allowed, sizeof allowed);
        return error_set(err, "found %s=\"%.60s\", allowed %s", this->name, text, allowed);
    }
    *value = number;
    return 0;
}

void netif_line_allowed(char *text, size_t size)
{
    char allowed[64];

    *text = '\0';
    for (int i = 0; i < NETIF_SETTINGS; i++) {
        if (i == NETIF_ROCE_CONFIG || (i > NETIF_DSCP && i <= NETIF_DSCP_LAST))
            continue;
        allowed_text((enum netif_setting)i, allowed, sizeof allowed);
        text_join(text, size, ", ", "%s=%s", i == NETIF_DSCP ? "dscp0...dscp63" : settings[i].name,
                  allowed);
    }
}

bool netif_is_name(const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    /* the kernel has directories of these names beside those of interfaces */
    if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
        return false;
    return text_is_name(name, "._-", NETIF_NAME);
}

/* ---------------------------------------------------------------- addresses */

/* Parses "10.1.0.0/16". Without a slash *bits is the width of the whole address. */
static bool parse_prefix(const char *text, int *family, unsigned char address[16], int *bits)
{
    char copy[NETIF_ADDRESS_TEXT], *slash, *end;
    int width;
    long number;

    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    slash = strchr(copy, '/');
    if (slash)
        *slash = '\0';
    if (inet_pton(AF_INET, copy, address) == 1)
        *family = AF_INET;
    else if (inet_pton(AF_INET6, copy, address) == 1)
        *family = AF_INET6;
    else
        return false;
    width = *family == AF_INET ? 32 : 128;
    *bits = width;
    if (slash) {
        number = strtol(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end || number > width)
            return false;
        *bits = (int)number;
    }
    return true;
}

/* Returns whether text is "require", an address or a prefix. */
static bool is_address(const char *text)
{
    unsigned char address[16];
    int family, bits;

    return strcasecmp(text, "require") == 0 || parse_prefix(text, &family, address, &bits);
}

bool netif_address_matches(const char *wanted, int family, const unsigned char *address)
{
    unsigned char prefix[16];
    int wanted_family, bits;

    if (strcmp(wanted, "require") == 0)
        return family == AF_INET ||
               (family == AF_INET6 && !(address[0] == 0xfe && (address[1] & 0xc0) == 0x80));
    if (!parse_prefix(wanted, &wanted_family, prefix, &bits) || wanted_family != family)
        return false;
    for (int bit = 0; bit < bits; bit++)
        if ((address[bit / 8] ^ prefix[bit / 8]) & (0x80 >> bit % 8))
            return false;
    return true;
}

/* ---------------------------------------------------------------- lines */

void netif_line_clear(struct netif_line *line)
{
    hostlist_clear(&line->interfaces);
    *line = (struct netif_line){0};
}

static int parse_names(const char *text, struct hostlist *names, struct error *err)
{
    if (hostlist_expand(text, names, err) != 0)
        return -1;
    if (names->count == 0 || names->count > 256)
        return error_set(err, "found %zu interfaces, allowed 1 to 256", names->count);
    for (size_t i = 0; i < names->count; i++) {
        if (!netif_is_name(names->names[i]))
            return error_set(err, "found \"%.60s\", allowed the name of an interface",
                             names->names[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names->names[i], names->names[j]) == 0)
                return error_set(err, "found \"%s\" twice, allowed once", names->names[i]);
    }
    return 0;
}

static int parse_setting(char *word, struct netif_line *line, struct error *err)
{
    char *equals = strchr(word, '=');
    char allowed[480];
    int setting = -1;

    if (equals) {
        *equals = '\0';
        for (int i = 0; i < NETIF_SETTINGS; i++)
            if (i != NETIF_ROCE_CONFIG &&
                strcasecmp(word, netif_setting_name((enum netif_setting)i)) == 0)
                setting = i;
    }
    if (setting < 0) {
        netif_line_allowed(allowed, sizeof allowed);
        return error_set(err, "found \"%.60s\", allowed %s", word, allowed);
    }
    if (line->given[setting])
        return error_set(err, "found %s twice, allowed once",
                         netif_setting_name((enum netif_setting)setting));
    line->given[setting] = true;
    if (setting != NETIF_ADDRESS)
        return netif_value_parse((enum netif_setting)setting, equals + 1, false,
                                 &line->values[setting], err);
    if (!is_address(equals + 1))
        return error_set(err,
                         "found address=\"%.60s\", allowed require or a prefix such as "
                         "10.1.0.0/16",
                         equals + 1);
    strcpy(line->address, strcasecmp(equals + 1, "require") == 0 ? "require" : equals + 1);
    return 0;
}

int netif_line_parse(const char *text, struct netif_line *line, struct error *err)
{
    char *copy = strdup(text), *save = NULL, *word;
    bool is_any = false;
    int result = 0;

    *line = (struct netif_line){0};
    if (!copy)
        return error_set(err, "out of memory");
    word = strtok_r(copy, " \t", &save);
    if (!word)
        result = error_set(err, "found \"\", expected names of interfaces and settings");
    else
        result = parse_names(word, &line->interfaces, err);
    while (result == 0 && (word = strtok_r(NULL, " \t", &save)) != NULL)
        is_any = true, result = parse_setting(word, line, err);
    if (result == 0 && !is_any) {
        char allowed[480];

        netif_line_allowed(allowed, sizeof allowed);
        result = error_set(err, "found no setting, allowed %s", allowed);
    }
    free(copy);
    if (result != 0)
        netif_line_clear(line);
    return result;
}

int netif_line_print(const struct netif_line *line, FILE *stream)
{
    char *names = hostlist_fold(&line->interfaces);
    char value[32];

    if (!names)
        return -1;
    fputs(names, stream);
    free(names);
    for (int i = 0; i < NETIF_SETTINGS; i++) {
        if (!line->given[i])
            continue;
        netif_value_format((enum netif_setting)i, line->values[i], value, sizeof value);
        fprintf(stream, " %s=%s", netif_setting_name((enum netif_setting)i),
                i == NETIF_ADDRESS ? line->address : value);
    }
    return 0;
}

const struct netif_line *netif_line_find(const struct netif_line *lines, size_t line_count,
                                         const char *interface, enum netif_setting setting,
                                         long *value)
{
    for (size_t i = 0; i < line_count; i++)
        if (lines[i].given[setting] && hostlist_contains(&lines[i].interfaces, interface)) {
            if (value)
                *value = lines[i].values[setting];
            return &lines[i];
        }
    return NULL;
}
