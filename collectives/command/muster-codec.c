/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/command/bench.h"
#include "collectives/command/file.h"
#include "lib/base/json_text.h"
#include "lib/base/option_set.h"
#include "lib/base/privileges.h"
#include "lib/base/signals.h"
#include "lib/base/stdout_flush.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_GOOD, STATUS_FAILED, STATUS_USAGE };

struct options {
    struct file_job job;
    bool decompress, test, to_stdout, remove, keep;
    bool bench, json, quiet, verbose;
    double seconds;
    const char *type_name, *path_name;
    enum codec_type type;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row rows[] = {
    OPTION('d', "decompress", NULL, "FILE" FILE_SUFFIX " becomes FILE", FLAG, FIELD(decompress)),
    OPTION('\0', "uncompress", NULL, NULL, FLAG, FIELD(decompress)),
    OPTION('t', "test", NULL, "check that FILE.mgc is complete, write nothing", FLAG, FIELD(test)),
    OPTION('b', "bench", NULL, "rates on one core, ratio, and Shannon's bound; writes no file",
           FLAG, FIELD(bench)),
    OPTION('\0', "type", "TYPE", "number type; default: the one that compresses best", TEXT,
           FIELD(type_name), .choices = "bf16|fp16|fp32"),
    OPTION('c', "stdout", NULL, "write to standard output", FLAG, FIELD(to_stdout)),
    OPTION('o', "output", "FILE", "write to FILE", TEXT, FIELD(job.output)),
    OPTION('f', "force", NULL, "overwrite existing files; allow writing to a terminal", FLAG,
           FIELD(job.force)),
    OPTION('\0', "rm", NULL, "remove the input once the output is on disk", FLAG, FIELD(remove)),
    OPTION('k', "keep", NULL, "keep the input; the default", FLAG, FIELD(keep)),
    OPTION('q', "quiet", NULL, "no line per file, no progress", FLAG, FIELD(quiet)),
    OPTION('v', "verbose", NULL, "print a line per file even if the output is not a terminal", FLAG,
           FIELD(verbose)),
    OPTION('\0', "path", "PATH", "use this code path instead of the fastest", TEXT,
           FIELD(path_name), .choices = "portable|avx2|avx512"),
    OPTION('\0', "json", NULL, "with -b: one JSON object per file", FLAG, FIELD(json)),
    OPTION('\0', "seconds", "SECONDS", "with -b: how long each path is measured", SECONDS,
           FIELD(seconds), OPTION_RANGE(0.01, 600), .initial = "1"),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster-codec",
    .usage = "muster-codec [OPTION...] [FILE...]",
    .summary = "Compresses gradients and weights without loss: floating-point numbers in memory "
               "order, little-endian. FILE becomes FILE" FILE_SUFFIX
               " and stays. Without FILE, or with -, standard input goes to standard output.",
    .status = "0 good, 1 a file could not be read, written or decoded, 2 usage.",
    .rows = rows,
    .words = INT_MAX,
};

static int usage_error(const char *what, const char *found, const char *allowed)
{
    fprintf(stderr, "muster-codec: %s '%s': %s\n", what, found, allowed);
    return STATUS_USAGE;
}

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
    struct error err;
    enum option_request request = option_set_parse(&set, argc, argv, options, NULL, &err);

    if (request == OPTION_MISUSE) {
        fprintf(stderr, "%s: %s\n", set.name, err.text);
        return STATUS_USAGE;
    }
    if (request != OPTION_RUN) {
        if (request == OPTION_VERSION)
            puts("muster-codec " PACKAGE_VERSION ", format 1");
        else
            option_set_print(&set, request, stdout);
        return stdout_flush(set.name) == 0 ? STATUS_GOOD : STATUS_FAILED;
    }
    options->job.action = options->test         ? FILE_TEST
                          : options->decompress ? FILE_DECODE
                                                : FILE_ENCODE;
    if (options->to_stdout)
        options->job.output = "-";
    options->job.remove = options->remove && !options->keep;
    if (options->type_name && codec_type_parse(options->type_name, &options->type))
        options->job.type = &options->type;
    if (options->path_name && !(options->job.path = codec_path_named(options->path_name)))
        return usage_error("--path", options->path_name, "not supported by this machine");
    return -1;
}

/* ------------------------------------------------------------------------------------- bench */

static void print_bench_json(const char *input, const struct bench *bench)
{
    printf("{\"file\": ");
    json_text_write(stdout, input, "");
    printf(", \"type\": \"%s\", \"bytes\": %zu, \"coded_bytes\": %zu, \"ratio\": %.4f, "
           "\"bound_ratio\": %.4f, \"block_bound_ratio\": %.4f, \"paths\": [",
           codec_type_name(bench->type), bench->values_bytes, bench->coded_bytes,
           (double)bench->values_bytes / (double)bench->coded_bytes,
           (double)bench->values_bytes / bench->bound_bytes,
           (double)bench->values_bytes / bench->block_bound_bytes);
    for (unsigned p = 0; p < bench->paths; p++)
        printf("%s{\"path\": \"%s\", \"coding_GBps\": %.3f, \"decoding_GBps\": %.3f, "
               "\"rounds\": %u}",
               p == 0 ? "" : ", ", bench->rates[p].path, bench->rates[p].coding_GBps,
               bench->rates[p].decoding_GBps, bench->rates[p].rounds);
    puts("]}");
}

static void print_bench(const char *input, const struct bench *bench)
{
    double values = (double)bench->values_bytes;

    printf("%s: %zu bytes of %s in blocks of %d elements\n", input, bench->values_bytes,
           codec_type_name(bench->type), CODEC_BLOCK_ELEMENTS);
    printf("  coded            %zu bytes, 1 : %.4f\n", bench->coded_bytes,
           values / (double)bench->coded_bytes);
    printf("  Shannon's bound  1 : %.4f with a table per block, coded is %.2f %% more\n",
           values / bench->block_bound_bytes,
           100 * ((double)bench->coded_bytes / bench->block_bound_bytes - 1));
    printf("                   1 : %.4f with one table for all\n", values / bench->bound_bytes);
    printf("  %-10s %12s %12s\n", "PATH", "CODING", "DECODING");
    for (unsigned p = 0; p < bench->paths; p++)
        printf("  %-10s %7.2f GB/s %7.2f GB/s   median of %u rounds\n", bench->rates[p].path,
               bench->rates[p].coding_GBps, bench->rates[p].decoding_GBps, bench->rates[p].rounds);
}

static int run_bench(const struct options *options, const char *input)
{
    struct bench bench;
    struct error err;

    if (bench_run(input, options->job.type, options->job.path, options->seconds, &bench, &err) !=
        0) {
        fprintf(stderr, "muster-codec: %s\n", err.text);
        return STATUS_FAILED;
    }
    if (options->json)
        print_bench_json(input, &bench);
    else
        print_bench(input, &bench);
    return STATUS_GOOD;
}

/* --------------------------------------------------------------------------------------- run */

static int run_file(const struct options *options, const char *input)
{
    struct stream_totals totals;
    struct error err;
    bool reports = !options->quiet && (options->verbose || isatty(2));

    if (file_convert(&options->job, input, &totals, &err) != 0) {
        fprintf(stderr, "muster-codec: %s\n", err.text);
        return STATUS_FAILED;
    }
    if (reports)
        fprintf(stderr, "%s: %s, %" PRIu64 " bytes to %" PRIu64 ", 1 : %.3f%s\n",
                strcmp(input, "-") == 0 ? "stdin" : input, codec_type_name(totals.type), totals.in,
                totals.out,
                options->job.action == FILE_ENCODE
                    ? (double)totals.in / (double)(totals.out ? totals.out : 1)
                    : (double)totals.out / (double)(totals.in ? totals.in : 1),
                options->job.action == FILE_TEST ? ", whole" : "");
    return STATUS_GOOD;
}

/* Removes the incomplete file, then dies of the signal. */
static void on_signal(int number)
{
    file_abandon();
    raise(number);
}

static void watch_signals(void)
{
    signals_catch(on_signal, (int)SA_RESETHAND);
    signal_catch(SIGXFSZ, on_signal, (int)SA_RESETHAND);
}

static int run_all(const struct options *options, char **inputs, int count)
{
    static char *const standard_input[] = {(char *)"-"};
    char *const *all = count > 0 ? (char *const *)inputs : standard_input;
    int worst = STATUS_GOOD;

    for (int i = 0; i < (count > 0 ? count : 1); i++) {
        int status = options->bench ? run_bench(options, all[i]) : run_file(options, all[i]);

        worst = status > worst ? status : worst;
    }
    return stdout_flush("muster-codec") == 0 ? worst : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    int status = read_options(argc, argv, &options), inputs;

    if (status >= 0)
        return status;
    privileges_drop(); /* the input is not trusted */
    inputs = argc - optind;
    if (options.job.output && strcmp(options.job.output, "-") != 0 && inputs > 1)
        return usage_error("--output", options.job.output, "one FILE at a time");
    if (options.job.type && options.job.action != FILE_ENCODE)
        return usage_error("--type", codec_type_name(options.type),
                           "applies only to compression; a compressed file stores its type");
    if (options.bench && (options.job.action != FILE_ENCODE || options.job.output))
        return usage_error("--bench", "with another action", "it writes nothing");
    if (options.json && !options.bench)
        return usage_error("--json", "without --bench", "only that prints figures");
    options.job.progress = !options.quiet && isatty(2);
    if (!options.bench) {
        if (!options.job.path)
            options.job.path = codec_path_best();
        watch_signals();
    }
    return run_all(&options, argv + optind, inputs);
}
