/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/quantity.h"
#include "lib/base/text.h"
#include "lib/conf/conf_table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The allowed values of kinds for which these are the same for each key. */
static const char *const allowed_texts[] = {
    [KIND_INTERFACE] = "the name of an interface, or nothing",
    [KIND_INTERFACES] = "names of interfaces such as eth[1-2],mlx5_0, or nothing",
    [KIND_PATHS] = "absolute paths such as /home,/scratch:rw, or nothing",
    [KIND_SERVICES] = "names of systemd's services such as sssd,munge, or nothing",
    [KIND_SPEEDS] = "NAMES:SPEED such as eth[1-2]:200Mb/s,mlx5_[0-7]:400Gb/s (Mb/s, Gb/s, Tb/s)",
    [KIND_USER] = "the name of a user other than root",
    [KIND_COMPARE] = "gres, features, partitions, several with commas, or none",
    [KIND_YES_NO] = "yes, no",
    [KIND_POLICY] = "ignore, log, refuse",
    [KIND_REPORT] = "table, html, junit, prometheus, csv or json, a colon and an absolute path, or "
                    "nothing; any number of lines",
    [KIND_KERNEL] =
        "SOURCE:EVENT:ACTION such as xid:63:ignore, where ACTION is ignore, warn or drain and "
        "SOURCE:EVENT stands in muster-codes(7), or nothing; any number of lines",
    [KIND_ISLAND] = "NAME nodes=NODES fabric=FABRIC, or nothing; any number of lines",
    [KIND_VARIABLE] =
        "NAME set|extend VALUE, NAME leave|forbid, then conditions (see muster.conf(5)), or "
        "nothing; any number of lines",
    [KIND_PREFLIGHT] = "off, quick, standard",
};

void conf_value_allowed(const struct conf_key *key, char *text, size_t size)
{
    const char *or_word = key->word ? ", or " : "", *word = text_of(key->word);
    char minimum[48], maximum[48];

    quantity_format_decimal(key->minimum, minimum, sizeof minimum);
    quantity_format_decimal(key->maximum, maximum, sizeof maximum);
    switch (key->kind) {
    case KIND_PATH:
    case KIND_FILE:
        snprintf(text, size, "an absolute path of at most %s bytes%s", maximum,
                 key->kind == KIND_FILE ? ", or nothing" : "");
        break;
    case KIND_PATH_LIST:
        snprintf(text, size, "absolute paths with colons between, at most %s bytes, or nothing",
                 maximum);
        break;
    case KIND_WORDS:
        snprintf(text, size, "words of at most %s bytes, without quotes, or nothing", maximum);
        break;
    case KIND_INTEGER:
        snprintf(text, size, "%s to %s%s%s", minimum, maximum, or_word, word);
        break;
    case KIND_PORTS:
        snprintf(text, size, "FIRST-LAST within %s-%s", minimum, maximum);
        break;
    case KIND_LONG_TIME:
    case KIND_TIME:
        quantity_format_time(key->minimum, minimum, sizeof minimum);
        quantity_format_time(key->maximum, maximum, sizeof maximum);
        snprintf(text, size, "%s to %s (units s, m, h, d; none: s)%s%s", minimum, maximum, or_word,
                 word);
        break;
    case KIND_PERCENT:
        snprintf(text, size, "%s%% to %s%%", minimum, maximum);
        break;
    case KIND_DECIMAL:
        snprintf(text, size, "%s to %s", minimum, maximum);
        break;
    case KIND_SETTINGS: {
        int length = snprintf(text, size, "nothing, or names of interfaces and some of ");

        netif_line_allowed(text + length, size - (size_t)length);
        break;
    }
    default:
        snprintf(text, size, "%s", allowed_texts[key->kind]);
        break;
    }
}

/* Fails with "found ..., allowed ...". */
static int set_not_allowed(const struct conf_key *key, const char *found, struct error *err)
{
    char allowed[CONF_ALLOWED];

    conf_value_allowed(key, allowed, sizeof allowed);
    return error_set(err, "found \"%.60s%s\", allowed %s", found, strlen(found) > 60 ? "..." : "",
                     allowed);
}

static bool is_interface_name(const char *name)
{
    return text_is_name(name, "._-:", sizeof((struct conf *)0)->management_interface);
}

/* Returns whether it is a user name for useradd, but not root. A number is not one. */
static bool is_user_name(const char *name)
{
    return text_is_name(name, "._-", sizeof((struct conf *)0)->battery_user) &&
           strcspn(name, "0123456789.-") > 0 && strcmp(name, "root") != 0;
}

static const char *const compare_names[] = {"gres", "features", "partitions"};
enum { COMPARE_NAMES = sizeof compare_names / sizeof *compare_names };

int conf_compare_parse(const char *text, unsigned *by)
{
    unsigned chosen = 0; /* bit i is word i */

    for (const char *at = text; strcasecmp(text, "none") != 0;) {
        size_t length = strcspn(at, ","), i = 0;

        while (i < COMPARE_NAMES && (strlen(compare_names[i]) != length ||
                                     strncasecmp(at, compare_names[i], length) != 0))
            i++;
        if (i == COMPARE_NAMES)
            return -1;
        chosen |= 1u << i;
        if (!at[length])
            break;
        at += length + 1;
    }
    *by = chosen;
    return 0;
}

static void print_compare(unsigned chosen, FILE *stream)
{
    const char *comma = "";

    for (size_t i = 0; i < COMPARE_NAMES; i++)
        if (chosen & 1u << i) {
            fprintf(stream, "%s%s", comma, compare_names[i]);
            comma = ",";
        }
    if (chosen == 0)
        fputs("none", stream);
}

bool conf_value_is_list(const struct conf_key *key)
{
    return key->kind == KIND_INTERFACES || key->kind == KIND_PATHS || key->kind == KIND_SERVICES;
}

bool conf_value_is_repeatable(const struct conf_key *key)
{
    return key->kind >= KIND_ISLAND;
}

static bool is_list_item(enum conf_kind kind, const char *item)
{
    switch (kind) {
    case KIND_PATHS: /* the last component may end with a mount option, ":rw" */
        return item[0] == '/' && (!strchr(strrchr(item, '/'), ':') ||
                                  strcmp(strchr(strrchr(item, '/'), ':'), ":rw") == 0);
    case KIND_SERVICES: /* systemd.unit(5) */
        return text_is_name(item, ":-_.\\@", SIZE_MAX);
    default:
        return is_interface_name(item);
    }
}

static int set_list(const struct conf_key *key, const char *value, struct hostlist *list,
                    struct error *err)
{
    struct hostlist names;
    int result = 0;

    if (hostlist_expand(value, &names, err) != 0)
        return -1;
    if (names.count > CONF_INTERFACES)
        result = error_set(err, "found %zu names, allowed %d", names.count, CONF_INTERFACES);
    for (size_t i = 0; i < names.count && result == 0; i++)
        if (!is_list_item(key->kind, names.names[i]))
            result = set_not_allowed(key, names.names[i], err);
        else if (hostlist_contains(list, names.names[i]))
            result = error_set(err, "found \"%s\" twice, allowed once", names.names[i]);
        else if (hostlist_append(list, names.names[i]) != 0)
            result = error_set(err, "out of memory");
    hostlist_clear(&names);
    return result;
}

/* Returns the entry of this speed, made if there is none; NULL if the table is full. */
static struct nominal_speed *speed_entry(struct conf *conf, double mbps)
{
    for (size_t i = 0; i < conf->nominal_speed_count; i++)
        if (conf->nominal_speeds[i].mbps == mbps)
            return &conf->nominal_speeds[i];
    if (conf->nominal_speed_count == CONF_NOMINAL_SPEEDS)
        return NULL;
    conf->nominal_speeds[conf->nominal_speed_count] = (struct nominal_speed){.mbps = mbps};
    return &conf->nominal_speeds[conf->nominal_speed_count++];
}

/* Sets one NAMES:SPEED. A name may contain a colon itself, so the last colon counts. */
static int set_speed(const struct conf_key *key, char *item, struct conf *conf, struct error *err)
{
    char *colon = strrchr(item, ':');
    struct nominal_speed *entry;
    struct hostlist names = {0};
    double number;
    int result;

    if (!colon || colon == item || !quantity_parse_speed(colon + 1, &number) ||
        number < key->minimum || number > key->maximum)
        return set_not_allowed(key, item, err);
    *colon = '\0';
    result = set_list(key, item, &names, err);
    for (size_t i = 0; i < names.count && result == 0; i++)
        for (size_t j = 0; j < conf->nominal_speed_count && result == 0; j++)
            if (hostlist_contains(&conf->nominal_speeds[j].interfaces, names.names[i]))
                result = error_set(err, "found \"%s\" twice, allowed once", names.names[i]);
    entry = result == 0 ? speed_entry(conf, number) : NULL;
    if (result == 0 && !entry)
        result = error_set(err, "found more than %d different speeds, allowed %d",
                           CONF_NOMINAL_SPEEDS, CONF_NOMINAL_SPEEDS);
    for (size_t i = 0; i < names.count && result == 0; i++)
        if (hostlist_append(&entry->interfaces, names.names[i]) != 0)
            result = error_set(err, "out of memory");
    hostlist_clear(&names);
    return result;
}

static int set_speeds(const struct conf_key *key, const char *value, struct conf *conf,
                      struct error *err)
{
    char copy[CONF_LINE + 1];
    char *item = copy, *end;

    snprintf(copy, sizeof copy, "%s", value);
    while (*item) {
        int depth = 0;
        bool is_last;

        for (end = item; *end && (*end != ',' || depth > 0); end++)
            depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        is_last = !*end;
        *end = '\0';
        if (set_speed(key, item, conf, err) != 0)
            return -1;
        item = is_last ? end : end + 1;
        if (!is_last && !*item)
            return set_not_allowed(key, value, err);
    }
    return 0;
}

static int set_text(const struct conf_key *key, const char *value, bool is_good, char *field,
                    struct error *err)
{
    if (!is_good || strlen(value) > (size_t)key->maximum)
        return set_not_allowed(key, value, err);
    strcpy(field, value);
    return 0;
}

/* Parses a number, share or time within the key's limits, or the key's word. */
static int parse_number(const struct conf_key *key, const char *value, double *field,
                        struct error *err)
{
    bool is_time = key->kind == KIND_TIME || key->kind == KIND_LONG_TIME;
    const char *end = value;
    double number;

    if (key->word && strcasecmp(value, key->word) == 0) {
        *field = key->word_value;
        return 0;
    }
    if (is_time ? !quantity_parse_time(value, &number)
                : !quantity_parse_decimal(&end, &number) ||
                      (*end && !(key->kind == KIND_PERCENT && strcmp(end, "%") == 0)))
        return set_not_allowed(key, value, err);
    if (number < key->minimum || number > key->maximum ||
        (key->kind == KIND_INTEGER && number != (int)number))
        return set_not_allowed(key, value, err);
    *field = number;
    return 0;
}

static int set_ports(const struct conf_key *key, const char *value, int *fields, struct error *err)
{
    const char *end = value;
    double first, last;

    if (!quantity_parse_decimal(&end, &first) || *end++ != '-' ||
        !quantity_parse_decimal(&end, &last) || *end || first < key->minimum ||
        last > key->maximum || first > last || first != (int)first || last != (int)last)
        return set_not_allowed(key, value, err);
    fields[0] = (int)first;
    fields[1] = (int)last;
    return 0;
}

/* Returns whether value is "" or absolute paths with colons between. */
static bool is_path_list(const char *value)
{
    for (const char *path = value; *value; path = strchr(path, ':')) {
        if (!path)
            return true;
        path += path > value;
        if (*path != '/')
            return false;
    }
    return true;
}

/* Adds an Interface line. A setting of an interface may be in one line only. */
static int add_settings(struct conf *conf, const char *value, unsigned number, struct error *err)
{
    struct netif_line *line = &conf->netif_lines[conf->netif_line_count];

    if (conf->netif_line_count == NETIF_LINES)
        return error_set(err, "found more than %d lines, allowed %d", NETIF_LINES, NETIF_LINES);
    if (netif_line_parse(value, line, err) != 0)
        return -1;
    line->line = number;
    for (size_t i = 0; i < line->interfaces.count; i++)
        for (int setting = 0; setting < NETIF_SETTINGS; setting++) {
            const char *interface = line->interfaces.names[i];
            const struct netif_line *first =
                line->given[setting] ? netif_line_find(conf->netif_lines, conf->netif_line_count,
                                                       interface, (enum netif_setting)setting, NULL)
                                     : NULL;

            if (!first)
                continue;
            error_set(err, "%s: %s: found a second time, first in line %u", interface,
                      netif_setting_name((enum netif_setting)setting), first->line);
            netif_line_clear(line);
            return -1;
        }
    conf->netif_line_count++;
    return 0;
}

int conf_value_set(struct conf *conf, const struct conf_key *key, const char *value, unsigned line,
                   struct error *err)
{
    void *field = (char *)conf + key->offset;
    double number = 0;

    if (!*value && conf_value_is_repeatable(key))
        return 0;
    switch (key->kind) {
    case KIND_INTERFACE:
        return set_text(key, value, !*value || is_interface_name(value), field, err);
    case KIND_INTERFACES:
    case KIND_PATHS:
    case KIND_SERVICES:
        return set_list(key, value, field, err);
    case KIND_SPEEDS:
        return set_speeds(key, value, conf, err);
    case KIND_PATH:
        return set_text(key, value, *value == '/', field, err);
    case KIND_FILE:
        return set_text(key, value, !*value || *value == '/', field, err);
    case KIND_PATH_LIST:
        return set_text(key, value, is_path_list(value), field, err);
    case KIND_WORDS:
        return set_text(key, value, !strpbrk(value, "\"'\\"), field, err);
    case KIND_USER:
        return set_text(key, value, is_user_name(value), field, err);
    case KIND_COMPARE:
        return conf_compare_parse(value, field) == 0 ? 0 : set_not_allowed(key, value, err);
    case KIND_INTEGER:
        if (parse_number(key, value, &number, err) != 0)
            return -1;
        *(int *)field = (int)number;
        return 0;
    case KIND_YES_NO:
        if (strcasecmp(value, "yes") != 0 && strcasecmp(value, "no") != 0)
            return set_not_allowed(key, value, err);
        *(bool *)field = strcasecmp(value, "yes") == 0;
        return 0;
    case KIND_PORTS:
        return set_ports(key, value, field, err);
    case KIND_LONG_TIME:
        if (parse_number(key, value, &number, err) != 0)
            return -1;
        *(long *)field = (long)number;
        return 0;
    case KIND_TIME:
    case KIND_PERCENT:
    case KIND_DECIMAL:
        return parse_number(key, value, field, err);
    case KIND_POLICY:
        for (int policy = POLICY_IGNORE; policy <= POLICY_REFUSE; policy++)
            if (strcasecmp(value, conf_policy_name((enum conf_policy)policy)) == 0) {
                *(enum conf_policy *)field = (enum conf_policy)policy;
                return 0;
            }
        return set_not_allowed(key, value, err);
    case KIND_REPORT:
        return conf_report_set(conf, value, err);
    case KIND_KERNEL:
        return conf_kernel_set(conf, value, line, err);
    case KIND_ISLAND:
        return conf_island_set(conf, value, line, err);
    case KIND_VARIABLE:
        return conf_variable_set(conf, value, line, err);
    case KIND_SETTINGS:
        return add_settings(conf, value, line, err);
    case KIND_PREFLIGHT:
        if (conf_preflight_parse(value) < 0)
            return set_not_allowed(key, value, err);
        *(enum conf_preflight *)field = (enum conf_preflight)conf_preflight_parse(value);
        return 0;
    }
    return error_set(err, "%s has no kind", key->name);
}

/* Prints the list in its short form; with a speed, each "name[range]" of it followed by ":speed".
 */
static int print_list(const struct hostlist *list, const char *speed, FILE *stream)
{
    char *folded = hostlist_fold(list);
    int depth = 0;

    if (!folded) {
        errno = ENOMEM;
        return -1;
    }
    for (const char *c = folded; *c; c++) {
        depth += *c == '[' ? 1 : *c == ']' ? -1 : 0;
        if (*c == ',' && depth == 0 && speed)
            fprintf(stream, ":%s", speed);
        fputc(*c, stream);
    }
    if (speed)
        fprintf(stream, ":%s", speed);
    free(folded);
    return 0;
}

int conf_value_print(const struct conf *conf, const struct conf_key *key, FILE *stream)
{
    const void *field = (const char *)conf + key->offset;
    const int *integers = field;
    char text[64] = "";

    switch (key->kind) {
    case KIND_INTERFACE:
    case KIND_PATH:
    case KIND_FILE:
    case KIND_PATH_LIST:
    case KIND_WORDS:
    case KIND_USER:
        fputs(field, stream);
        return 0;
    case KIND_COMPARE:
        print_compare(*(const unsigned *)field, stream);
        return 0;
    case KIND_INTERFACES:
    case KIND_PATHS:
    case KIND_SERVICES:
        return print_list(field, NULL, stream);
    case KIND_SPEEDS:
        for (size_t i = 0; i < conf->nominal_speed_count; i++) {
            quantity_format_speed(conf->nominal_speeds[i].mbps, text, sizeof text);
            fputs(i ? "," : "", stream);
            if (print_list(&conf->nominal_speeds[i].interfaces, text, stream) != 0)
                return -1;
        }
        return 0;
    case KIND_INTEGER:
        if (key->word && *integers == key->word_value)
            fputs(key->word, stream);
        else
            fprintf(stream, "%d", *integers);
        return 0;
    case KIND_YES_NO:
        fputs(*(const bool *)field ? "yes" : "no", stream);
        return 0;
    case KIND_PORTS:
        fprintf(stream, "%d-%d", integers[0], integers[1]);
        return 0;
    case KIND_LONG_TIME:
        quantity_format_time((double)*(const long *)field, text, sizeof text);
        break;
    case KIND_TIME:
        if (key->word && (int)*(const double *)field == key->word_value)
            snprintf(text, sizeof text, "%s", key->word);
        else
            quantity_format_time(*(const double *)field, text, sizeof text);
        break;
    case KIND_PERCENT:
    case KIND_DECIMAL:
        quantity_format_decimal(*(const double *)field, text, sizeof text);
        if (key->kind == KIND_PERCENT)
            strcat(text, "%");
        break;
    case KIND_POLICY:
        fputs(conf_policy_name(*(const enum conf_policy *)field), stream);
        return 0;
    case KIND_KERNEL:
        conf_kernel_print(conf, stream);
        return 0;
    case KIND_REPORT:
        conf_reports_print(conf, stream);
        return 0;
    case KIND_ISLAND:
        return conf_islands_print(conf, stream);
    case KIND_VARIABLE:
        return conf_variables_print(conf, stream);
    case KIND_SETTINGS:
        for (size_t i = 0; i < conf->netif_line_count; i++) {
            fprintf(stream, i ? "\n%s=" : "%.0s", key->name);
            if (netif_line_print(&conf->netif_lines[i], stream) != 0)
                return -1;
        }
        return 0;
    case KIND_PREFLIGHT:
        fputs(conf_preflight_name(*(const enum conf_preflight *)field), stream);
        return 0;
    }
    fputs(text, stream);
    return 0;
}
