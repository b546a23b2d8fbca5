/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

/* The keys whose values have several words, Island and Variable. Each may occur any number of
 * times. */

enum { WORDS = 16, TABLE_MAX = 1024 /* lines of one key */ };

struct words {
    char text[CONF_LINE + 1];
    char *word[WORDS];
    size_t count;
};

/* Splits a value at blanks. Single or double quotes protect blanks, as in a shell. */
static int split(const char *value, struct words *words, struct error *err)
{
    char *out = words->text;
    const char *in = value;

    words->count = 0;
    for (in += strspn(in, " \t"); *in != '\0'; in += strspn(in, " \t")) {
        char quote = '\0';

        if (words->count == WORDS)
            return error_set(err, "found more than %d words", WORDS);
        words->word[words->count++] = out;
        for (; *in != '\0' && (quote != '\0' || (*in != ' ' && *in != '\t')); in++) {
            if (quote == '\0' && (*in == '"' || *in == '\''))
                quote = *in;
            else if (*in == quote)
                quote = '\0';
            else
                *out++ = *in;
        }
        if (quote != '\0')
            return error_set(err, "found a quote (%c) without its end", quote);
        *out++ = '\0';
    }
    return 0;
}

/* Returns the value of "key=value", or NULL if word has another key. */
static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncasecmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* Sets a list of names of nodes, partitions or accounts; what: "nodes", "partition" or
 * "account". */
static int set_names(const char *what, const char *value, struct hostlist *list, struct error *err)
{
    if (list->count > 0)
        return error_set(err, "found %s= twice, allowed once", what);
    if (hostlist_expand(value, list, err) != 0)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (*list->names[i] == '\0' || strlen(list->names[i]) > 255)
            return error_set(err, "found an empty or overlong name in %s=%.60s", what, value);
    if (list->count == 0)
        return error_set(err, "found an empty list in %s=, allowed names", what);
    return 0;
}

static int set_unknown_class(const char *word, struct error *err)
{
    return error_set(err,
                     "found the fabric \"%.40s\", allowed InfiniBand, RoCEv2, RoCEv1, iWARP, EFA, "
                     "Slingshot, Gaudi, Ethernet",
                     word);
}

/* Appends an element to the table of a key and returns it, all zero; NULL with err. */
static void *line_add(void **table, size_t *count, size_t size, const char *key, struct error *err)
{
    char *bigger;

    if (*count == TABLE_MAX) {
        error_set(err, "found more than %d lines of %s", TABLE_MAX, key);
        return NULL;
    }
    bigger = grow(*table, *count, size);
    if (bigger == NULL) {
        error_set(err, "out of memory");
        return NULL;
    }
    *table = bigger;
    memset(bigger + *count * size, 0, size);
    return bigger + (*count)++ * size;
}

/* ---------------------------------------------------------------- islands */

/* Checks that no other island has the same name or one of the nodes. Returns 0, or -1 with err. */
static int check_island(const struct conf *conf, const struct island *island, struct error *err)
{
    struct name_index nodes;
    int result = 0;

    if (hostlist_index(&island->nodes, &nodes) != 0)
        return error_set(err, "out of memory");
    if (nodes.count < island->nodes.count)
        result = error_set(err, "found a node of island %s twice, allowed once", island->name);
    for (const struct island *other = conf->islands; other != island && result == 0; other++) {
        if (strcmp(other->name, island->name) == 0)
            result = error_set(err, "found the island \"%s\" a second time, first in line %u",
                               island->name, other->line);
        for (size_t i = 0; i < other->nodes.count && result == 0; i++)
            if (name_index_has(&nodes, other->nodes.names[i]))
                result = error_set(err, "found node \"%.60s\" a second time, it is in island %s",
                                   other->nodes.names[i], other->name);
    }
    name_index_clear(&nodes);
    return result;
}

static int island_read(const struct words *words, struct island *island, struct error *err)
{
    if (words->count == 0 || !text_is_name(words->word[0], "._-", sizeof island->name))
        return error_set(err,
                         "found the name \"%.40s\", allowed at most %zu letters, digits, . _ -",
                         words->count > 0 ? words->word[0] : "", sizeof island->name - 1);
    strcpy(island->name, words->word[0]);
    for (size_t i = 1; i < words->count; i++) {
        const char *nodes = value_of(words->word[i], "nodes");
        const char *fabric = value_of(words->word[i], "fabric");

        if (nodes != NULL && set_names("nodes", nodes, &island->nodes, err) != 0)
            return -1;
        if (fabric != NULL && island->fabric != FABRIC_NONE)
            return error_set(err, "found fabric= twice, allowed once");
        if (fabric != NULL) {
            island->fabric = fabric_class_parse(fabric);
            if (island->fabric == FABRIC_NONE)
                return set_unknown_class(fabric, err);
        }
        if (nodes == NULL && fabric == NULL)
            return error_set(err, "found \"%.40s\", allowed NAME nodes=NODES fabric=FABRIC",
                             words->word[i]);
    }
    if (island->nodes.count == 0 || island->fabric == FABRIC_NONE)
        return error_set(err, "found no %s=, allowed NAME nodes=NODES fabric=FABRIC",
                         island->nodes.count == 0 ? "nodes" : "fabric");
    return 0;
}

int conf_island_set(struct conf *conf, const char *value, unsigned line, struct error *err)
{
    struct island *island;
    struct words words;

    if (split(value, &words, err) != 0)
        return -1;
    island = line_add((void **)&conf->islands, &conf->island_count, sizeof *island, "Island", err);
    if (island == NULL)
        return -1;
    island->line = line;
    return island_read(&words, island, err) != 0 ? -1 : check_island(conf, island, err);
}

int conf_islands_print(const struct conf *conf, FILE *stream)
{
    for (size_t i = 0; i < conf->island_count; i++) {
        const struct island *island = &conf->islands[i];
        char *nodes = hostlist_fold(&island->nodes);

        if (nodes == NULL)
            return -1;
        fprintf(stream, "%s%s nodes=%s fabric=%s", i > 0 ? "\nIsland=" : "", island->name, nodes,
                fabric_class_word(island->fabric));
        free(nodes);
    }
    return 0;
}

/* ---------------------------------------------------------------- variables */

static const char *const action_names[] = {"set", "extend", "leave", "forbid"};

/* Checks the name. Refuses Slurm's and muster's own variables: both programs read a task's rank
 * and node from them. */
static int check_variable_name(const char *name, struct error *err)
{
    static const char *const kept[] = {"SLURM", "_SLURM", "SPANK", "_SPANK", "MUSTER"};

    if (!text_is_name(name, "_", sizeof((struct variable_line *)0)->name) ||
        isdigit((unsigned char)*name))
        return error_set(err, "found the variable \"%.70s\", allowed letters, digits and _", name);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(name, kept[i], strlen(kept[i])) == 0)
            return error_set(err,
                             "found the variable \"%s\": those of Slurm and of muster are not "
                             "the site's to change",
                             name);
    return 0;
}

/* Parses "InfiniBand,RoCEv2". */
static int set_fabrics(const char *value, unsigned *fabrics, struct error *err)
{
    char word[32];

    if (*fabrics != 0)
        return error_set(err, "found fabric= twice, allowed once");
    for (const char *at = value;; at += strcspn(at, ",") + 1) {
        enum fabric_class class;

        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        class = fabric_class_parse(word);
        if (class == FABRIC_NONE)
            return set_unknown_class(word, err);
        *fabrics |= 1u << class;
        if (at[strcspn(at, ",")] == '\0')
            return 0;
    }
}

/* Returns whether text has both kinds of quotes: it could not be printed as one word. */
static bool has_both_quotes(const char *text)
{
    return strchr(text, '"') != NULL && strchr(text, '\'') != NULL;
}

static int variable_condition(const char *word, struct variable_line *line, struct error *err)
{
    const char *value;

    if (strcasecmp(word, "force") == 0 && line->action == VARIABLE_SET) {
        line->is_forced = true;
        return 0;
    }
    if ((value = value_of(word, "partition")) != NULL)
        return set_names("partition", value, &line->partitions, err);
    if ((value = value_of(word, "nodes")) != NULL)
        return set_names("nodes", value, &line->nodes, err);
    if ((value = value_of(word, "account")) != NULL)
        return set_names("account", value, &line->accounts, err);
    if ((value = value_of(word, "fabric")) != NULL)
        return set_fabrics(value, &line->fabrics, err);
    if ((value = value_of(word, "separator")) != NULL && line->action == VARIABLE_EXTEND) {
        if (*value == '\0' || strlen(value) >= sizeof line->separator)
            return error_set(err, "found the separator \"%.20s\", allowed 1 to %zu bytes", value,
                             sizeof line->separator - 1);
        if (has_both_quotes(value))
            return error_set(err, "found both kinds of quotes in a separator, allowed one");
        strcpy(line->separator, value);
        return 0;
    }
    return error_set(err, "found \"%.40s\", allowed partition=, nodes=, fabric=, account=%s", word,
                     line->action == VARIABLE_SET      ? ", force"
                     : line->action == VARIABLE_EXTEND ? ", separator="
                                                       : "");
}

static int variable_read(const struct words *words, struct variable_line *line, struct error *err)
{
    size_t next = 2;
    int action = VARIABLE_SET;

    if (words->count < 2)
        return error_set(err,
                         "found \"%.60s\", allowed NAME set VALUE, NAME extend VALUE, NAME "
                         "leave, NAME forbid",
                         words->count > 0 ? words->word[0] : "");
    if (check_variable_name(words->word[0], err) != 0)
        return -1;
    strcpy(line->name, words->word[0]);
    while (action <= VARIABLE_FORBID && strcasecmp(words->word[1], action_names[action]) != 0)
        action++;
    if (action > VARIABLE_FORBID)
        return error_set(err, "found \"%.40s\", allowed set, extend, leave, forbid",
                         words->word[1]);
    line->action = (enum variable_action)action;
    strcpy(line->separator, ",");
    if (action == VARIABLE_SET || action == VARIABLE_EXTEND) {
        if (words->count < 3)
            return error_set(err, "found %s without a value", action_names[action]);
        if (strlen(words->word[2]) >= sizeof line->value)
            return error_set(err, "found a value of %zu bytes, allowed %zu", strlen(words->word[2]),
                             sizeof line->value - 1);
        if (has_both_quotes(words->word[2]))
            return error_set(err, "found both kinds of quotes in a value, allowed one");
        strcpy(line->value, words->word[2]);
        next = 3;
    }
    for (size_t i = next; i < words->count; i++)
        if (variable_condition(words->word[i], line, err) != 0)
            return -1;
    return 0;
}

int conf_variable_set(struct conf *conf, const char *value, unsigned number, struct error *err)
{
    struct variable_line *line;
    struct words words;

    if (split(value, &words, err) != 0)
        return -1;
    line =
        line_add((void **)&conf->variables, &conf->variable_count, sizeof *line, "Variable", err);
    if (line == NULL)
        return -1;
    line->line = number;
    return variable_read(&words, line, err);
}

static void print_word(const char *before, const char *word, FILE *stream)
{
    const char *quote = strpbrk(word, " \t'") != NULL || *word == '\0' ? "\"" : "";

    if (strchr(word, '"') != NULL)
        quote = "'";
    fprintf(stream, " %s%s%s%s", before, quote, word, quote);
}

static int print_names(const char *what, const struct hostlist *list, FILE *stream)
{
    char *folded, before[16];

    if (list->count == 0)
        return 0;
    folded = hostlist_fold(list);
    if (folded == NULL)
        return -1;
    snprintf(before, sizeof before, "%s=", what);
    print_word(before, folded, stream);
    free(folded);
    return 0;
}

static int print_variable(const struct variable_line *line, FILE *stream)
{
    const char *comma = " fabric=";

    fprintf(stream, "%s %s", line->name, action_names[line->action]);
    if (line->action == VARIABLE_SET || line->action == VARIABLE_EXTEND)
        print_word("", line->value, stream);
    if (line->action == VARIABLE_EXTEND && strcmp(line->separator, ",") != 0)
        print_word("separator=", line->separator, stream);
    if (print_names("partition", &line->partitions, stream) != 0 ||
        print_names("nodes", &line->nodes, stream) != 0 ||
        print_names("account", &line->accounts, stream) != 0)
        return -1;
    for (int class = FABRIC_ETHERNET; class <= FABRIC_INFINIBAND; class ++)
        if (line->fabrics & 1u << class) {
            fprintf(stream, "%s%s", comma, fabric_class_word((enum fabric_class) class));
            comma = ",";
        }
    if (line->is_forced)
        fputs(" force", stream);
    return 0;
}

int conf_variables_print(const struct conf *conf, FILE *stream)
{
    for (size_t i = 0; i < conf->variable_count; i++) {
        if (i > 0)
            fputs("\nVariable=", stream);
        if (print_variable(&conf->variables[i], stream) != 0)
            return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------- release */

void conf_site_clear(struct conf *conf)
{
    for (size_t i = 0; i < conf->island_count; i++)
        hostlist_clear(&conf->islands[i].nodes);
    for (size_t i = 0; i < conf->variable_count; i++) {
        hostlist_clear(&conf->variables[i].partitions);
        hostlist_clear(&conf->variables[i].nodes);
        hostlist_clear(&conf->variables[i].accounts);
    }
    free(conf->islands);
    free(conf->variables);
}
