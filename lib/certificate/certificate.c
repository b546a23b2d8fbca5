/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/certificate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/deferred_error.h"
#include "lib/base/memory_stream.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"

static const char title[] = "muster certificate 1";

/* The lines with one word as their value, in their order. */
static const struct word {
    const char *key;
    size_t offset, size;
    bool is_optional;
} words[] = {
#define WORD(key, member, is_optional)                                                             \
    {                                                                                              \
        key, offsetof(struct certificate, member), sizeof((struct certificate *)0)->member,        \
            is_optional                                                                            \
    }
    WORD("node", node, false), WORD("cluster", cluster, false), WORD("level", level, false),
    WORD("run", run, true),    WORD("boot", boot_id, true),
#undef WORD
};

enum { WORDS = sizeof words / sizeof *words };

/* The last second of the year 9999: later times have a text of another form. */
static const long long last_time = 253402300799LL;

const char *certificate_state_name(enum certificate_state state)
{
    static const char *const names[] = {
        [CERTIFICATE_VALID] = "valid",
        [CERTIFICATE_MISSING] = "missing",
        [CERTIFICATE_EXPIRED] = "expired",
        [CERTIFICATE_CHANGED] = "changed",
        [CERTIFICATE_INVALID] = "invalid",
        [CERTIFICATE_UNVERIFIED] = "unverified",
        [CERTIFICATE_UNVERIFIABLE] = "unverifiable",
    };

    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static const char *const level_names[] = {"quick", "standard", "full"};

int certificate_level(const char *level)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (strcmp(level, level_names[i]) == 0)
            return (int)i + 1;
    return 0;
}

const char *certificate_level_name(int level)
{
    return level_names[level - 1];
}

void certificate_clear(struct certificate *certificate)
{
    if (!certificate)
        return;
    free(certificate->tests);
    free(certificate->fingerprint);
    *certificate = (struct certificate){0};
}

static bool is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0;
}

/* Returns whether the line at text, which ends in a newline or a NUL, is printable and not
 * empty. */
static bool is_line(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length) {
        size_t character = utf8_printable_length((const unsigned char *)text + at);

        if (character == 0)
            return false;
        at += character;
    }
    return length > 0;
}

/* Formats "1795190000 2026-11-20T16:13:20Z". Returns false for a time that has no such text. */
static bool format_time(time_t time, char *text, size_t size)
{
    size_t used;

    if (time < 0 || time > last_time)
        return false;
    used = (size_t)snprintf(text, size, "%lld ", (long long)time);
    return *text_time(text + used, size - used, "%Y-%m-%dT%H:%M:%SZ", time);
}

/* Writes each line of lines after prefix. Returns false if a line is not allowed. */
static bool print_lines(FILE *stream, const char *prefix, const char *lines)
{
    while (lines && *lines) {
        size_t length = strcspn(lines, "\n");

        if (lines[length] != '\n' || strlen(prefix) + length > CERTIFICATE_LINE ||
            !is_line(lines, length))
            return false;
        fprintf(stream, "%s%.*s\n", prefix, (int)length, lines);
        lines += length + 1;
    }
    return true;
}

static bool print(FILE *stream, const struct certificate *certificate)
{
    char issued[64], expires[64];

    if (!format_time(certificate->issued, issued, sizeof issued) ||
        !format_time(certificate->expires, expires, sizeof expires) ||
        certificate->expires < certificate->issued)
        return false;
    fprintf(stream, "%s\n", title);
    for (size_t i = 0; i < WORDS; i++) {
        const char *value = (const char *)certificate + words[i].offset;
        size_t length = strnlen(value, words[i].size);

        if (length == 0 && words[i].is_optional)
            continue;
        if (length == words[i].size || !is_word(value, length))
            return false;
        fprintf(stream, "%s: %s\n", words[i].key, value);
    }
    fprintf(stream, "issued: %s\nexpires: %s\n", issued, expires);
    return print_lines(stream, "test ", certificate->tests) &&
           print_lines(stream, "fingerprint ", certificate->fingerprint);
}

char *certificate_format(const struct certificate *certificate)
{
    char *text = NULL;
    size_t length;
    FILE *stream = memory_stream(&text, &length);
    bool is_fit, failed;

    if (!stream) {
        deferred_error_note();
        return NULL;
    }
    is_fit = print(stream, certificate);
    failed = fclose(stream) != 0;
    if (is_fit && !failed)
        return text;
    free(text);
    errno = failed ? ENOMEM : EINVAL;
    deferred_error_note();
    return NULL;
}

/* The rest of the text to be parsed, line by line. */
struct lines {
    const char *next;
    unsigned number; /* of the current line, from 1 */
    const char *line;
    size_t length;
};

static bool next_line(struct lines *lines)
{
    lines->line = lines->next;
    lines->length = strcspn(lines->line, "\n");
    lines->number++;
    if (lines->line[lines->length] != '\n')
        return false;
    lines->next = lines->line + lines->length + 1;
    return true;
}

/* Returns the value of the current line after prefix, or NULL if the line does not have it. */
static const char *value_of(const struct lines *lines, const char *prefix)
{
    size_t length = strlen(prefix);

    if (lines->length < length || memcmp(lines->line, prefix, length) != 0)
        return NULL;
    return lines->line + length;
}

static int set_unexpected(const struct lines *lines, const char *expected, struct error *err)
{
    char found[64];

    text_put(found, sizeof found, "%.*s", (int)lines->length, lines->line);
    text_make_ascii(found); /* keeps hostile bytes out of a log */
    return error_set(err, "line %u: found \"%s\", expected %s", lines->number, found, expected);
}

static int parse_words(struct lines *lines, struct certificate *certificate, struct error *err)
{
    for (size_t i = 0; i < WORDS; i++) {
        char prefix[16], expected[64];
        const char *value;
        size_t length;

        snprintf(prefix, sizeof prefix, "%s: ", words[i].key);
        snprintf(expected, sizeof expected, "\"%s\" and a word of at most %zu letters", prefix,
                 words[i].size - 1);
        value = value_of(lines, prefix);
        if (!value && words[i].is_optional)
            continue;
        length = lines->length - strlen(prefix);
        if (!value || length >= words[i].size || !is_word(value, length))
            return set_unexpected(lines, expected, err);
        memcpy((char *)certificate + words[i].offset, value, length);
        if (!next_line(lines))
            return set_unexpected(lines, "more lines", err);
    }
    return 0;
}

/* Parses a line of prefix, seconds since 1970, and the same time as text. */
static int parse_time(struct lines *lines, const char *prefix, time_t *time, struct error *err)
{
    const char *value = value_of(lines, prefix);
    char expected[64], text[64];
    long long number = 0;

    snprintf(expected, sizeof expected, "\"%s\", seconds since 1970 and the same as text", prefix);
    for (const char *c = value; c && *c >= '0' && *c <= '9' && number <= last_time; c++)
        number = 10 * number + (*c - '0');
    if (!value || !format_time((time_t)number, text, sizeof text) ||
        strlen(text) != lines->length - strlen(prefix) || memcmp(text, value, strlen(text)) != 0)
        return set_unexpected(lines, expected, err);
    *time = (time_t)number;
    return 0;
}

/* Appends the lines that begin with prefix to *text, without the prefix; *text stays NULL if there
 * are none. *is_end: the certificate ends after them. */
static int parse_lines(struct lines *lines, const char *prefix, char **text, bool *is_end,
                       struct error *err)
{
    const char *value;
    size_t length = 0;

    while (!*is_end && (value = value_of(lines, prefix))) {
        size_t added = lines->length - strlen(prefix);
        char *grown;

        if (lines->length > CERTIFICATE_LINE || !is_line(value, added))
            return set_unexpected(lines, "a line without control characters, not too long", err);
        grown = realloc(*text, length + added + 2);
        if (!grown) {
            deferred_error_note();
            return error_set(err, "out of memory");
        }
        *text = grown;
        memcpy(grown + length, value, added);
        length += added;
        grown[length++] = '\n';
        grown[length] = '\0';
        *is_end = !next_line(lines);
    }
    return 0;
}

static bool is_seal(const char *text, size_t length)
{
    static const char prefix[] = "MUNGE:";
    size_t prefix_length = sizeof prefix - 1;

    if (length < prefix_length + 2 || memcmp(text, prefix, prefix_length) != 0 ||
        text[length - 1] != ':')
        return false;
    for (size_t i = prefix_length; i < length - 1; i++)
        if (!memchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", text[i],
                    65))
            return false;
    return true;
}

/* Parses the seal at the end, if there is one. */
static int parse_seal(struct lines *lines, bool is_end, char **seal, struct error *err)
{
    const char *value;

    if (is_end)
        return lines->length == 0 ? 0 : set_unexpected(lines, "a newline at the end", err);
    value = value_of(lines, "seal: ");
    if (!value)
        return set_unexpected(lines, "\"test \", then \"fingerprint \" lines, then \"seal: \"",
                              err);
    if (!is_seal(value, lines->length - strlen("seal: ")))
        return set_unexpected(lines, "\"seal: MUNGE:\", a credential and \":\"", err);
    *seal = strndup(value, lines->length - strlen("seal: "));
    if (!*seal) {
        deferred_error_note();
        return error_set(err, "out of memory");
    }
    if (next_line(lines) || lines->length > 0)
        return set_unexpected(lines, "nothing behind the seal", err);
    return 0;
}

static int parse(const char *text, struct certificate *certificate, char **seal,
                 size_t *text_length, struct error *err)
{
    struct lines lines = {.next = text};
    bool is_end;

    if (strnlen(text, CERTIFICATE_MAX + 1) > CERTIFICATE_MAX)
        return error_set(err, "found more than %d bytes", CERTIFICATE_MAX);
    if (!next_line(&lines) || lines.length != strlen(title) || !value_of(&lines, title))
        return set_unexpected(&lines, "\"muster certificate 1\"", err);
    if (!next_line(&lines))
        return set_unexpected(&lines, "more lines", err);
    if (parse_words(&lines, certificate, err) != 0 ||
        parse_time(&lines, "issued: ", &certificate->issued, err) != 0)
        return -1;
    if (!next_line(&lines))
        return set_unexpected(&lines, "more lines", err);
    if (parse_time(&lines, "expires: ", &certificate->expires, err) != 0)
        return -1;
    if (certificate->expires < certificate->issued)
        return set_unexpected(&lines, "a time after the time of issue", err);
    is_end = !next_line(&lines);
    if (parse_lines(&lines, "test ", &certificate->tests, &is_end, err) != 0 ||
        parse_lines(&lines, "fingerprint ", &certificate->fingerprint, &is_end, err) != 0)
        return -1;
    *text_length = (size_t)(lines.line - text);
    return parse_seal(&lines, is_end, seal, err);
}

int certificate_parse(const char *text, struct certificate *certificate, char **seal,
                      size_t *text_length, struct error *err)
{
    char *again;

    *certificate = (struct certificate){0};
    *seal = NULL;
    *text_length = 0;
    if (parse(text, certificate, seal, text_length, err) != 0)
        goto fail;
    /* the text must be the one that certificate_format() writes for this content */
    again = certificate_format(certificate);
    if (!again || strlen(again) != *text_length || memcmp(again, text, *text_length) != 0) {
        free(again);
        error_set(err, "found a text that is not a canonical certificate");
        goto fail;
    }
    free(again);
    return 0;

fail:
    free(*seal);
    *seal = NULL;
    certificate_clear(certificate);
    return -1;
}
