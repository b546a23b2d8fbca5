/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/machine.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"

/* The text form of a machine, one figure or row of figures per line:
 *   link CLASS US ...        one figure for each of machine_sizes
 *   reduce TYPE GBPS
 *   copy GBPS
 *   codec TYPE ENCODE_GBPS DECODE_GBPS RATIO BLOCK_US
 *   others SHARE TIMES       background load of processors, number of measurements
 *   benchmark KIND ALGORITHM SEGMENT_BYTES BYTES US
 *   coded KIND ALGORITHM SEGMENT_BYTES BYTES US
 * Numbers have 17 digits, so that reading restores them to the bit. */

static locale_t plain_locale(locale_t *old)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

    *old = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    return plain;
}

static void restore_locale(locale_t plain, locale_t old)
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
    FILE *stream = memory_stream(&text, &size);

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
                benchmark->wire == WIRE_LOSSLESS ? "coded" : "benchmark",
                collective_kind_name(benchmark->kind), benchmark->algorithm,
                benchmark->segment_bytes, benchmark->bytes, benchmark->time_us);
    }
    restore_locale(plain, old);
    fclose(stream);
    return text;
}

/* ------------------------------------------------------------------------------------- reading */

/* Reads the rest of a line: exactly `count` numbers, none negative. */
static bool read_numbers(const char *text, int count, double *numbers)
{
    for (int i = 0; i < count; i++) {
        char *end;

        numbers[i] = strtod(text, &end);
        if (end == text || !(numbers[i] >= 0 && numbers[i] < 1e15))
            return false;
        text = end;
    }
    return *text == '\0';
}

static bool read_codec(const char *name, const char *rest, struct machine *machine)
{
    enum codec_type type;
    double numbers[4];

    if (!codec_type_parse(name, &type) || !read_numbers(rest, 4, numbers))
        return false;
    machine->encode_GBps[type] = numbers[0];
    machine->decode_GBps[type] = numbers[1];
    machine->ratio[type] = numbers[2];
    machine->block_us[type] = numbers[3];
    return true;
}

static bool read_benchmark(const char *name, const char *rest, enum wire_format wire,
                           struct machine *machine)
{
    struct machine_benchmark benchmark = {.wire = wire};
    double numbers[3];
    int end = 0;

    if (!collective_kind_parse(name, &benchmark.kind) ||
        sscanf(rest, "%31s%n", benchmark.algorithm, &end) != 1 ||
        !read_numbers(rest + end, 3, numbers) || numbers[2] <= 0)
        return false;
    benchmark.segment_bytes = (size_t)numbers[0];
    benchmark.bytes = (size_t)numbers[1];
    benchmark.time_us = numbers[2];
    return machine_add_benchmark(machine, &benchmark, NULL) == 0;
}

static bool read_line(const char *line, struct machine *machine)
{
    char key[MACHINE_NAME], name[MACHINE_NAME];
    const char *rest;
    enum link_class class;
    enum element_type type;
    double others[2];
    int end = 0;

    if (sscanf(line, "%31s %31s%n", key, name, &end) != 2)
        return false;
    rest = line + end;
    if (strcmp(key, "link") == 0 && link_class_parse(name, &class)) {
        machine->has_link[class] = true;
        return read_numbers(rest, MACHINE_SIZES, machine->link_us[class]);
    }
    if (strcmp(key, "reduce") == 0)
        return element_parse(name, &type) && read_numbers(rest, 1, &machine->reduce_GBps[type]);
    if (strcmp(key, "codec") == 0)
        return read_codec(name, rest, machine);
    if (strcmp(key, "benchmark") == 0)
        return read_benchmark(name, rest, WIRE_AS_IS, machine);
    if (strcmp(key, "coded") == 0)
        return read_benchmark(name, rest, WIRE_LOSSLESS, machine);
    rest = line + strlen(key);
    if (strcmp(key, "copy") == 0)
        return read_numbers(rest, 1, &machine->copy_GBps);
    if (strcmp(key, "others") != 0 || !read_numbers(rest, 2, others) || others[1] < 1 ||
        others[1] > 2)
        return false;
    machine->background_load = others[0];
    machine->measured = (unsigned)others[1];
    return true;
}

int machine_read(const char *text, const char *name, struct machine *machine, struct error *err)
{
    char *copy = strdup(text), *next = copy, *line;
    locale_t old, plain = plain_locale(&old);
    int status = copy != NULL ? 0 : error_set(err, "out of memory");

    memset(machine, 0, sizeof *machine);
    for (int number = 1; status == 0 && next != NULL && *next != '\0'; number++) {
        line = strsep(&next, "\n");
        if (!read_line(line, machine))
            status = error_set(err, "%s:%d: unexpected line \"%.64s\"", name, number, line);
    }
    restore_locale(plain, old);
    free(copy);
    if (status < 0)
        machine_clear(machine);
    return status;
}
