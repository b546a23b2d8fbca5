/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/verify/intent.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "validate/scheduling/site.h"
#include "validate/scheduling/verify/kinds.h"

/* -------------------------------------------------------------------------- values */

static int parse_name(const char *value, char *name, size_t size)
{
    if (!text_is_name(value, "._-", size))
        return -1;
    strcpy(name, value);
    return 0;
}

int intent_count(const char *value, long most, long *count)
{
    char *end;

    *count = strtol(value, &end, 10);
    return isdigit((unsigned char)*value) && !*end && *count >= 1 && *count <= most ? 0 : -1;
}

/* Slurm's times; a number alone is minutes. */
static int parse_seconds(const char *value, double most_s, double *seconds)
{
    size_t length = strlen(value);

    *seconds = site_seconds(value);
    return length > 0 && strspn(value, "0123456789-:") == length && isfinite(*seconds) &&
                   *seconds >= 1 && *seconds <= most_s
               ? 0
               : -1;
}

static int parse_minutes(const char *value, long *minutes)
{
    double seconds;

    if (parse_seconds(value, VERIFY_WALL_MOST_MIN * 60.0, &seconds) != 0 || fmod(seconds, 60) != 0)
        return -1;
    *minutes = (long)(seconds / 60);
    return 0;
}

static int parse_tres(const char *value, struct intent_statement *statement)
{
    const char *equal = strchr(value, '=');
    size_t length = equal ? (size_t)(equal - value) : 0;

    if (length == 0 || length >= sizeof statement->tres)
        return -1;
    snprintf(statement->tres, sizeof statement->tres, "%.*s", (int)length, value);
    if (strcmp(statement->tres, "cpu") != 0 && strcmp(statement->tres, "node") != 0 &&
        (strncmp(statement->tres, "gres/", 5) != 0 || !statement->tres[5]))
        return -1;
    return intent_count(equal + 1, INTENT_AMOUNT_MOST, &statement->amount);
}

static int parse_mode(const char *value, enum intent_mode *mode)
{
    static const char *const names[] = {
        [INTENT_REQUEUE] = "requeue", [INTENT_CANCEL] = "cancel", [INTENT_SUSPEND] = "suspend"};

    for (*mode = INTENT_REQUEUE; *mode <= INTENT_SUSPEND; ++*mode)
        if (strcasecmp(value, names[*mode]) == 0)
            return 0;
    return -1;
}

static const struct intent_who *who_find(const struct intent *intent, const char *name)
{
    for (size_t i = 0; i < intent->who_count; i++)
        if (strcasecmp(intent->who[i].name, name) == 0)
            return &intent->who[i];
    return NULL;
}

/* Puts the value into the statement, or into the Who= line. Returns 0, or -1 if it is not what is
 * allowed. */
static int parse_value(const struct intent *intent, const struct intent_key *key, const char *value,
                       struct intent_statement *statement, struct intent_who *who)
{
    switch (key->value) {
    case INTENT_COUNT:
        return intent_count(value, INTENT_AMOUNT_MOST, &statement->amount);
    case INTENT_MINUTES:
        return parse_minutes(value, &statement->amount);
    case INTENT_TRES:
        return parse_tres(value, statement);
    case INTENT_OTHER:
        statement->other = who_find(intent, value);
        return statement->other && statement->other != statement->who ? 0 : -1;
    case INTENT_WITHIN:
        return parse_seconds(value, VERIFY_WITHIN_MOST_S, &statement->within_s);
    case INTENT_MODE:
        return parse_mode(value, &statement->mode);
    case INTENT_RESERVATION:
        return parse_name(value, statement->reservation, sizeof statement->reservation);
    case INTENT_WHO:
        return parse_name(value, (char *)who + key->offset, sizeof who->user);
    }
    return -1;
}

/* -------------------------------------------------------------------------- lines */

/* Splits the first word into key and value; *rest is behind it. Returns 1, 0 at the end, or -1 if
 * the word has no "=". */
static int split_word(char **rest, char **key, char **value)
{
    char *word;

    do
        word = strsep(rest, " \t\r");
    while (word && !*word);
    if (!word)
        return 0;
    *key = word;
    *value = strchr(word, '=');
    if (!*value)
        return -1;
    *(*value)++ = '\0';
    return 1;
}

/* Returns the keys that a line may have, for a message. */
static struct text_line allowed_keys(const struct intent_key *keys)
{
    struct text_line line = text_line("%s", keys->name ? "" : "nothing");

    for (; keys->name; keys++)
        text_join(line.text, sizeof line.text, ", ", "%s=", keys->name);
    return line;
}

static int fault(const struct slurm_line *line, struct error *err)
{
    return error_prefix(err, "%s:%d", line->file, line->number);
}

/* Parses the words after the first: each key once, and all that are needed. Returns 0, or -1 with
 * err. */
static int parse_words(const struct intent *intent, const struct intent_key *keys,
                       const char *keyword, char *rest, struct intent_statement *statement,
                       struct intent_who *who, struct error *err)
{
    unsigned seen = 0;
    char *key, *value;
    int rv, ones = 0, has_one = 0;

    while ((rv = split_word(&rest, &key, &value)) > 0) {
        size_t i = 0;

        while (keys[i].name && strcasecmp(keys[i].name, key) != 0)
            i++;
        if (!keys[i].name)
            return error_set(err, "%s: found \"%.60s\", allowed %s", keyword, key,
                             allowed_keys(keys).text);
        if (seen & 1u << i)
            return error_set(err, "%s: found %s= twice, allowed once", keyword, keys[i].name);
        seen |= 1u << i;
        if (keys[i].need == INTENT_ONE) {
            statement->limit = keys[i].limit;
            has_one++;
        }
        if (parse_value(intent, &keys[i], value, statement, who) != 0)
            return error_set(err, "%s: found %s=%.60s, allowed %s", keyword, keys[i].name, value,
                             keys[i].allowed);
    }
    if (rv < 0)
        return error_set(err, "%s: found \"%.60s\", allowed Key=Value", keyword, key);
    for (size_t i = 0; keys[i].name; i++) {
        ones += keys[i].need == INTENT_ONE;
        if (keys[i].need == INTENT_NEEDED && !(seen & 1u << i))
            return error_set(err, "%s: found no %s=, expected %s", keyword, keys[i].name,
                             keys[i].allowed);
    }
    if (ones > 0 && has_one != 1)
        return error_set(err, "%s: found %d limits, expected one of %s", keyword, has_one,
                         allowed_keys(keys).text);
    return 0;
}

static int parse_who(struct intent *intent, const char *name, char *rest, struct error *err)
{
    static const struct intent_key keys[] = {
        {"User", "the name of a test user", INTENT_NEEDED, INTENT_WHO,
         .offset = offsetof(struct intent_who, user)},
        {"Account", "a name", INTENT_OPTIONAL, INTENT_WHO,
         .offset = offsetof(struct intent_who, account)},
        {"QOS", "a name", INTENT_OPTIONAL, INTENT_WHO, .offset = offsetof(struct intent_who, qos)},
        {"Partition", "a name", INTENT_OPTIONAL, INTENT_WHO,
         .offset = offsetof(struct intent_who, partition)},
        {NULL},
    };
    struct intent_who *who;

    if (!GROW(intent->who, intent->who_count))
        return error_set(err, "no memory");
    who = &intent->who[intent->who_count];
    *who = (struct intent_who){""};
    if (parse_name(name, who->name, sizeof who->name) != 0)
        return error_set(err, "found Who=%.60s, allowed a name of letters, digits and ._-", name);
    if (who_find(intent, name))
        return error_set(err, "found Who=%s twice, allowed once", name);
    if (parse_words(intent, keys, "Who", rest, NULL, who, err) != 0)
        return -1;
    intent->who_count++;
    return 0;
}

static int parse_statement(struct intent *intent, const struct slurm_line *line,
                           const struct verify_kind *kind, const char *name, char *rest,
                           struct error *err)
{
    struct intent_statement *statement;

    if (!GROW(intent->statements, intent->count))
        return error_set(err, "no memory");
    statement = &intent->statements[intent->count];
    *statement = (struct intent_statement){.kind = kind, .line = line};
    statement->who = who_find(intent, name);
    if (!statement->who)
        return error_set(err, "found %s=%.60s, allowed the name of a Who= line", kind->keyword,
                         name);
    if (parse_words(intent, kind->keys, kind->keyword, rest, statement, NULL, err) != 0)
        return -1;
    intent->count++;
    return 0;
}

/* Parses a Who= line if is_who, else any other line; skips the rest. Returns 0, or -1 with err. */
static int parse_line(struct intent *intent, const struct slurm_line *line, bool is_who,
                      struct error *err)
{
    char *text = strdup(line->text), *rest = text, *key = text, *value = text;
    const struct verify_kind *const *kind = verify_kinds;
    int rv = 0;

    if (!text)
        return error_set(err, "no memory");
    if (split_word(&rest, &key, &value) <= 0) {
        rv = error_set(err, "found \"%.60s\", allowed Keyword=NAME", key);
    } else if (strcasecmp(key, "Who") == 0) {
        rv = is_who ? parse_who(intent, value, rest, err) : 0;
    } else {
        while (*kind && strcasecmp((*kind)->keyword, key) != 0)
            kind++;
        if (!*kind)
            rv = error_set(err, "found \"%.60s\", allowed %s", key, verify_keywords().text);
        else if (!is_who)
            rv = parse_statement(intent, line, *kind, value, rest, err);
    }
    free(text);
    return rv;
}

int intent_read(const char *path, struct intent *intent, struct error *err)
{
    *intent = (struct intent){.count = 0};
    if (slurm_file_read(path, &intent->lines, err) != 0)
        return -1;
    for (int pass = 0; pass < 2; pass++) /* statements name whom a later line may define */
        for (size_t i = 0; i < intent->lines.count; i++)
            if (parse_line(intent, &intent->lines.lines[i], pass == 0, err) != 0)
                return fault(&intent->lines.lines[i], err);
    if (intent->count == 0)
        return error_set(err, "%s: found no statement, allowed %s", path, verify_keywords().text);
    return 0;
}

void intent_clear(struct intent *intent)
{
    slurm_lines_clear(&intent->lines);
    free(intent->who);
    free(intent->statements);
    *intent = (struct intent){.count = 0};
}
