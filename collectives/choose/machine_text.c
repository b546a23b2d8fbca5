/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/machine.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A machine as lines:
 *   link CLASS US ...        one figure for each of machine_sizes
 *   reduce TYPE GBPS
 *   copy GBPS
 *   codec TYPE ENCODE_GBPS DECODE_GBPS RATIO BLOCK_US
 *   others SHARE TIMES       of the processors, and how often it was measured
 *   trial KIND ALGORITHM SEGMENT_BYTES BYTES US
 *   coded KIND ALGORITHM SEGMENT_BYTES BYTES US
 * Numbers have 17 digits: what is read is what was written. */

static locale_t plain_locale(locale_t *old)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

    *old = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    return plain;
}

static void put_back_locale(locale_t plain, locale_t old)
{
    if (plain != (locale_t)0) {
        uselocale(old);
        freelocale(plain);
    }
}

char *machine_write(const struct machine *machine)
{
    char *text = NULL;
    size_t size;
    locale_t old, plain;
    FILE *stream = open_memstream(&text, &size);

    if (stream == NULL)
        return NULL;
    plain = plain_locale(&old);
    for (int class = 0; class < LINK_CLASSES; class ++) {
        if (!machine->has_link[class])
            continue;
        fprintf(stream, "link %s", link_class_name((enum link_class) class));
        for (int i = 0; i < MACHINE_SIZES; i++)
            fprintf(stream, " %.17g", machine->link_us[class][i]);
        fputc('\n', stream);
    }
    for (int type = 0; type < ELEMENT_TYPES; type++)
        if (machine->reduce_GBps[type] > 0)
            fprintf(stream, "reduce %s %.17g\n", element_name((enum element_type)type),
                    machine->reduce_GBps[type]);
    if (machine->copy_GBps > 0)
        fprintf(stream, "copy %.17g\n", machine->copy_GBps);
    for (int type = 0; type < CODEC_TYPES; type++)
        if (machine->encode_GBps[type] > 0)
            fprintf(stream, "codec %s %.17g %.17g %.17g %.17g\n",
                    codec_type_name((enum codec_type)type), machine->encode_GBps[type],
                    machine->decode_GBps[type], machine->ratio[type], machine->block_us[type]);
    if (machine->measured > 0)
        fprintf(stream, "others %.17g %u\n", machine->background_load, machine->measured);
    for (unsigned i = 0; i < machine->benchmark_count; i++) {
        const struct machine_benchmark *benchmark = &machine->benchmarks[i];

        fprintf(stream, "%s %s %s %zu %zu %.17g\n",
                benchmark->wire == WIRE_LOSSLESS ? "coded" : "trial",
                collective_kind_name(benchmark->kind), benchmark->algorithm,
                benchmark->segment_bytes, benchmark->bytes, benchmark->time_us);
    }
    put_back_locale(plain, old);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ------------------------------------------------------------------------------------- reading */

/* The words of a line, one after the other. */
struct words {
    char *rest;
    const char *last; /* taken, for messages */
    const char *expected;
};

static const char *take_word(struct words *words, const char *expected)
{
    words->expected = expected;
    words->last = strtok_r(NULL, " ", &words->rest);
    return words->last;
}

/* A share: from 0 on. */
static bool take_share(struct words *words, const char *expected, double *number)
{
    const char *word = take_word(words, expected);
    char *end;

    if (word == NULL)
        return false;
    *number = strtod(word, &end);
    return *end == '\0' && isfinite(*number) && *number >= 0 && *number < 1e15;
}

/* A time, a rate or a ratio: above 0. */
static bool take_number(struct words *words, const char *expected, double *number)
{
    return take_share(words, expected, number) && *number > 0;
}

static bool take_size(struct words *words, const char *expected, size_t *size)
{
    const char *word = take_word(words, expected);
    char *end;

    if (word == NULL || *word < '0' || *word > '9')
        return false;
    errno = 0;
    *size = strtoull(word, &end, 10);
    return *end == '\0' && errno == 0 && *size < (size_t)1 << 60;
}

static bool read_link(struct words *words, struct machine *machine)
{
    const char *name = take_word(words, "node, leaf or across");
    enum link_class class;

    if (name == NULL || !link_class_parse(name, &class))
        return false;
    for (int i = 0; i < MACHINE_SIZES; i++)
        if (!take_number(words, "a time in us", &machine->link_us[class][i]))
            return false;
    machine->has_link[class] = true;
    return true;
}

static bool read_codec(struct words *words, struct machine *machine)
{
    const char *name = take_word(words, "bf16, fp16 or fp32");
    enum codec_type type;

    return name != NULL && codec_type_parse(name, &type) &&
           take_number(words, "a rate in GB/s", &machine->encode_GBps[type]) &&
           take_number(words, "a rate in GB/s", &machine->decode_GBps[type]) &&
           take_number(words, "a ratio", &machine->ratio[type]) &&
           take_number(words, "a time in us", &machine->block_us[type]);
}

static bool read_reduce(struct words *words, struct machine *machine)
{
    const char *name = take_word(words, "a type of elements");
    enum element_type type;

    return name != NULL && element_parse(name, &type) &&
           take_number(words, "a rate in GB/s", &machine->reduce_GBps[type]);
}

static bool read_background_load(struct words *words, struct machine *machine)
{
    size_t measured;

    if (!take_share(words, "a share of the processors", &machine->background_load) ||
        !take_size(words, "1 or 2", &measured) || measured < 1 || measured > 2)
        return false;
    machine->measured = (unsigned)measured;
    return true;
}

static bool read_benchmark(struct words *words, enum wire_format wire, struct machine *machine,
                           bool *is_out_of_memory)
{
    struct machine_benchmark benchmark = {.wire = wire};
    const char *word = take_word(words, "a collective");

    if (word == NULL || !collective_kind_parse(word, &benchmark.kind))
        return false;
    word = take_word(words, "an algorithm");
    if (word == NULL || strlen(word) >= sizeof benchmark.algorithm)
        return false;
    strcpy(benchmark.algorithm, word);
    if (!take_size(words, "a number of bytes", &benchmark.segment_bytes) ||
        !take_size(words, "a number of bytes", &benchmark.bytes) ||
        !take_number(words, "a time in us", &benchmark.time_us))
        return false;
    *is_out_of_memory = machine_add_benchmark(machine, &benchmark, NULL) < 0;
    return !*is_out_of_memory;
}

static bool read_line(char *line, struct words *words, struct machine *machine,
                      bool *is_out_of_memory)
{
    const char *key = strtok_r(line, " ", &words->rest);
    bool held;

    words->last = key;
    words->expected = "link, reduce, copy, codec, others, trial or coded";
    if (key == NULL)
        return false;
    if (strcmp(key, "link") == 0)
        held = read_link(words, machine);
    else if (strcmp(key, "reduce") == 0)
        held = read_reduce(words, machine);
    else if (strcmp(key, "copy") == 0)
        held = take_number(words, "a rate in GB/s", &machine->copy_GBps);
    else if (strcmp(key, "codec") == 0)
        held = read_codec(words, machine);
    else if (strcmp(key, "others") == 0)
        held = read_background_load(words, machine);
    else if (strcmp(key, "trial") == 0)
        held = read_benchmark(words, WIRE_AS_IS, machine, is_out_of_memory);
    else if (strcmp(key, "coded") == 0)
        held = read_benchmark(words, WIRE_LOSSLESS, machine, is_out_of_memory);
    else
        held = false;
    return held && take_word(words, "the end of the line") == NULL;
}

int machine_read(const char *text, const char *name, struct machine *machine, struct error *err)
{
    char *copy = strdup(text), *next = copy;
    locale_t old, plain;
    int status = 0;

    memset(machine, 0, sizeof *machine);
    if (copy == NULL)
        return error_set(err, "out of memory");
    plain = plain_locale(&old);
    for (int number = 1; status == 0 && *next != '\0'; number++) {
        char *line = next, *end = strchrnul(line, '\n');
        bool is_out_of_memory = false;
        struct words words = {0};

        next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        if (!read_line(line, &words, machine, &is_out_of_memory))
            status = is_out_of_memory
                         ? error_set(err, "out of memory")
                         : error_set(err, "%s:%d: found \"%.64s\", expected %s", name, number,
                                     words.last != NULL ? words.last : "", words.expected);
    }
    put_back_locale(plain, old);
    free(copy);
    if (status < 0)
        machine_clear(machine);
    return status;
}
