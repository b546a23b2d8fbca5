/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/site.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"

static struct site_record *add_record(struct site_table *table)
{
    if (!GROW(table->records, table->count))
        return NULL;
    table->records[table->count] = (struct site_record){0};
    return &table->records[table->count++];
}

static int add_field(struct site_record *record, char *key, char *value)
{
    if (!GROW(record->fields, record->count))
        return -1;
    record->fields[record->count++] = (struct site_field){key, value};
    return 0;
}

/* Parses lines "Key   = Value" as one record. */
static int parse_config(struct site_table *table, char *text)
{
    struct site_record *record = add_record(table);
    char *save;

    if (!record)
        return -1;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *equal = strchr(line, '='), *end = equal;

        if (!equal || isspace((unsigned char)*line))
            continue;
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        equal++;
        if (add_field(record, line, equal + strspn(equal, " ")) != 0)
            return -1;
    }
    return 0;
}

/* Returns whether a key of scontrol's begins here: letters that begin with a capital one, and "=".
 */
static bool is_key(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:");

    return isupper((unsigned char)*text) && text[length] == '=';
}

/* Parses "Key=Value Key=Value", a line per record. A value may have blanks and equal signs. */
static int parse_pairs(struct site_table *table, char *text)
{
    char *save;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct site_record *record;

        if (!is_key(line)) /* "No reservations in the system" */
            continue;
        record = add_record(table);
        for (char *key = line, *next; key && record; key = next) {
            char *value = strchr(key, '=');

            *value++ = '\0';
            next = value;
            while ((next = strchr(next, ' ')) && !is_key(next + 1))
                next++;
            if (next)
                *next++ = '\0';
            for (char *end = value + strlen(value); end > value && end[-1] == ' ';)
                *--end = '\0';
            if (add_field(record, key, value) != 0)
                return -1;
        }
        if (!record)
            return -1;
    }
    return 0;
}

/* Parses records of that key; a table without any is valid only if Slurm says so in its own words.
 */
static int parse_shown(struct site_table *table, char *text, const char *key, struct error *err)
{
    static const char none[] = "No reservations in the system";
    bool is_none = strncmp(text, none, sizeof none - 1) == 0;

    if (parse_pairs(table, text) != 0)
        return error_set(err, "no memory");
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->records[i].fields[0].key, key) != 0)
            return error_set(err, "found a line of %s=, expected %s=, as scontrol prints it",
                             table->records[i].fields[0].key, key);
    return table->count > 0 || is_none
               ? 0
               : error_set(err, "found no line of %s=, as scontrol prints it", key);
}

/* Parses values with "|" between, a line per record; the first line names the columns, as columns
 * does. */
static int parse_columns(struct site_table *table, char *text, const char *columns,
                         struct error *err)
{
    static char keys[2][512]; /* the fields' keys outlive the call */
    char *list = keys[columns[0] == 'A'], *save, *line = strtok_r(text, "\n", &save);

    snprintf(list, sizeof keys[0], "%s", columns);
    for (char *c = list; *c; c++)
        if (*c == ',')
            *c = '\0';
    while ((line = strtok_r(NULL, "\n", &save))) {
        struct site_record *record = add_record(table);
        const char *end = list + strlen(columns);
        char *key = list, *value;

        if (!record)
            return error_set(err, "no memory");
        for (; key < end; key += strlen(key) + 1) {
            value = strsep(&line, "|");
            if (!value)
                return error_set(err, "sacctmgr printed fewer columns than %s", columns);
            if (add_field(record, key, value) != 0)
                return error_set(err, "no memory");
        }
    }
    return table->count > 0 ? 0
                            : error_set(err, "found no line of %s, as sacctmgr prints it", columns);
}

/* Writes the names of accounts in lower case, as sacctmgr does, for slurmctld ignores their case;
 * and indexes them. Returns 0, or -1 with err. */
static int index_accounts(struct site *site, struct error *err)
{
    const struct site_table *table = &site->tables[CLUSTER_ASSOCIATIONS];
    const char **names = calloc(table->count + 1, sizeof *names);
    int rv = -1;

    for (size_t i = 0; names && i < table->count; i++) {
        const struct site_record *record = &table->records[i];

        for (size_t k = 0; k < record->count; k++) {
            const char *key = record->fields[k].key;
            bool is_account = strcmp(key, "Account") == 0 || strcmp(key, "ParentName") == 0;

            for (char *c = record->fields[k].value; is_account && *c; c++)
                *c = (char)tolower((unsigned char)*c);
        }
        names[i] = *site_value(record, "User") ? "" : site_value(record, "Account");
    }
    if (names)
        rv = name_index_build(names, table->count, &site->accounts);
    free(names);
    return rv == 0 ? 0 : error_set(err, "no memory");
}

/* Checks that no account is above itself. Returns 0, or -1 with err. */
static int check_parents(const struct site *site, struct error *err)
{
    const struct site_record *one = NULL;

    while (site_next(site, CLUSTER_ASSOCIATIONS, &one)) {
        const struct site_record *above = *site_value(one, "User") ? NULL : one;

        for (size_t i = 0; above && i < site->tables[CLUSTER_ASSOCIATIONS].count; i++)
            above = site_parent(site, above);
        if (above)
            return error_set(err, "account %s is above itself, expected parents up to root",
                             site_value(above, "Account"));
    }
    return 0;
}

int site_parse(struct site *site, enum cluster_text what, char *text, struct error *err)
{
    struct site_table *table = &site->tables[what];

    site->texts[what] = text;
    switch (what) {
    case CLUSTER_CONFIG:
        return parse_config(table, text) == 0 ? 0 : error_set(err, "no memory");
    case CLUSTER_QOS:
        return parse_columns(table, text, CLUSTER_QOS_COLUMNS, err);
    case CLUSTER_ASSOCIATIONS:
        return parse_columns(table, text, CLUSTER_ASSOCIATION_COLUMNS, err) == 0 &&
                       index_accounts(site, err) == 0
                   ? check_parents(site, err)
                   : -1;
    case CLUSTER_PARTITIONS:
        return parse_shown(table, text, "PartitionName", err);
    case CLUSTER_NODES:
        return parse_shown(table, text, "NodeName", err);
    default:
        return parse_shown(table, text, "ReservationName", err);
    }
}

int site_finish(struct site *site, struct error *err)
{
    const struct site_table *partitions = &site->tables[CLUSTER_PARTITIONS],
                            *nodes = &site->tables[CLUSTER_NODES];

    if (site->tables[CLUSTER_CONFIG].count == 0 || !*site_config(site, "ClusterName"))
        return error_set(err, "no ClusterName in what scontrol show config prints");
    site->members = calloc(partitions->count * nodes->count + 1, sizeof *site->members);
    if (!site->members)
        return error_set(err, "no memory");
    for (size_t i = 0; i < partitions->count; i++)
        for (size_t k = 0; k < nodes->count; k++)
            site->members[i * nodes->count + k] =
                site_list_has(site_value(&nodes->records[k], "Partitions"),
                              site_value(&partitions->records[i], "PartitionName"));
    return 0;
}

void site_clear(struct site *site)
{
    for (int what = 0; what < CLUSTER_TEXTS; what++) {
        for (size_t i = 0; i < site->tables[what].count; i++)
            free(site->tables[what].records[i].fields);
        free(site->tables[what].records);
        free(site->texts[what]);
    }
    free(site->members);
    name_index_clear(&site->accounts);
    slurm_lines_clear(&site->lines);
    *site = (struct site){0};
}

const char *site_value(const struct site_record *record, const char *key)
{
    static const char *const none[] = {"(null)", "N/A", "NONE", "n/a"};
    const char *value = "";

    for (size_t i = 0; i < record->count && !*value; i++)
        if (strcasecmp(record->fields[i].key, key) == 0)
            value = record->fields[i].value;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(value, none[i]) == 0)
            return "";
    return value;
}

const char *site_config(const struct site *site, const char *key)
{
    return site->tables[CLUSTER_CONFIG].count
               ? site_value(&site->tables[CLUSTER_CONFIG].records[0], key)
               : "";
}

bool site_next(const struct site *site, enum cluster_text what, const struct site_record **record)
{
    const struct site_table *table = &site->tables[what];
    size_t next = *record ? (size_t)(*record - table->records) + 1 : 0;

    *record = next < table->count ? &table->records[next] : NULL;
    return *record;
}

const struct site_record *site_find(const struct site *site, enum cluster_text what,
                                    const char *key, const char *value)
{
    const struct site_record *record = NULL;

    while (site_next(site, what, &record) && strcasecmp(site_value(record, key), value) != 0)
        ;
    return record;
}

const char *site_parent_name(const struct site_record *association)
{
    return site_value(association, *site_value(association, "User") ? "Account" : "ParentName");
}

const struct site_record *site_parent(const struct site *site,
                                      const struct site_record *association)
{
    const char *name = site_parent_name(association);
    long at = *name ? name_index_find(&site->accounts, name) : -1;

    return at < 0 ? NULL : &site->tables[CLUSTER_ASSOCIATIONS].records[at];
}

bool site_is_group_limited(const struct site *site, const char *user)
{
    static const char *const keys[] = {"GrpTRES", "GrpTRESMins", "GrpJobs", "GrpSubmit", "GrpWall"};
    const struct site_record *one = NULL, *above;

    while (site_next(site, CLUSTER_QOS, &one))
        if (*site_value(one, "GrpSubmit") || *site_value(one, "MaxSubmitPA"))
            return true;
    while (site_next(site, CLUSTER_ASSOCIATIONS, &one)) {
        above = strcmp(site_value(one, "User"), user) == 0 ? site_parent(site, one) : NULL;
        for (; above; above = site_parent(site, above))
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                if (*site_value(above, keys[i]))
                    return true;
    }
    return !site->has_accounting;
}

const struct slurm_line *site_line(const struct site *site, const char *key, const char *name)
{
    const struct slurm_line *found = NULL;
    size_t length = strlen(key);
    char value[256];

    for (size_t i = 0; i < site->lines.count; i++) {
        const struct slurm_line *line = &site->lines.lines[i];
        bool is_first =
            strncasecmp(line->text, key, length) == 0 && strspn(line->text + length, " =") > 0;

        if (name ? slurm_line_value(line, "PartitionName", value, sizeof value) &&
                       strcmp(value, name) == 0
                 : is_first)
            found = line;
    }
    return found;
}

bool site_is_member(const struct site *site, const struct site_record *partition,
                    const struct site_record *node)
{
    const struct site_table *partitions = &site->tables[CLUSTER_PARTITIONS],
                            *nodes = &site->tables[CLUSTER_NODES];
    size_t row = (size_t)(partition - partitions->records);

    return site->members[row * nodes->count + (size_t)(node - nodes->records)];
}

bool site_share_nodes(const struct site *site, const struct site_record *one,
                      const struct site_record *other)
{
    const struct site_record *node = NULL;

    while (site_next(site, CLUSTER_NODES, &node))
        if (site_is_member(site, one, node) && site_is_member(site, other, node))
            return true;
    return false;
}

bool site_word(const char **list, char *word, size_t size)
{
    size_t length;

    *list += strspn(*list, ", ");
    length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

bool site_list_has(const char *list, const char *word)
{
    char one[256];

    while (site_word(&list, one, sizeof one))
        if (strcasecmp(one, word) == 0)
            return true;
    return false;
}

double site_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    return end == text ? NAN : value;
}

double site_tres(const char *list, const char *tres)
{
    size_t length = strlen(tres);
    char word[256];

    while (site_word(&list, word, sizeof word)) {
        static const char units[] = "KMGTP";
        char *end = NULL;
        const char *unit;
        double value;

        if (strncasecmp(word, tres, length) != 0 || word[length] != '=')
            continue;
        value = strtod(word + length + 1, &end);
        if (end == word + length + 1)
            return NAN;
        unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
        if (unit && strcasecmp(tres, "mem") == 0)
            value *= pow(1024, (double)(unit - units) - 1);
        else if (unit)
            value *= pow(1000, (double)(unit - units) + 1);
        return value;
    }
    return NAN;
}

double site_seconds(const char *text)
{
    double days = 0, parts[3] = {0};
    const char *dash = strchr(text, '-');
    int count;

    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0)
        return INFINITY;
    if (dash) {
        days = strtod(text, NULL);
        text = dash + 1;
    }
    count = sscanf(text, "%lf:%lf:%lf", &parts[0], &parts[1], &parts[2]);
    if (count <= 0)
        return NAN;
    if (dash || count == 3)
        return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
    return parts[0] * 60 + parts[1]; /* minutes, and seconds */
}
