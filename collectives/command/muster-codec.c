/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "collectives/command/bench.h"
#include "collectives/command/file.h"
#include "lib/base/privileges.h"
#include "lib/base/signals.h"
#include "lib/base/stdout_flush.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_GOOD, STATUS_FAILED, STATUS_USAGE };

enum { OPTION_TYPE = 256, OPTION_REMOVE, OPTION_PATH, OPTION_JSON, OPTION_SECONDS, OPTION_VERSION };

static const struct option long_options[] = {
    {"decompress", no_argument, NULL, 'd'},
    {"uncompress", no_argument, NULL, 'd'},
    {"test", no_argument, NULL, 't'},
    {"bench", no_argument, NULL, 'b'},
    {"stdout", no_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"keep", no_argument, NULL, 'k'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"type", required_argument, NULL, OPTION_TYPE},
    {"rm", no_argument, NULL, OPTION_REMOVE},
    {"path", required_argument, NULL, OPTION_PATH},
    {"json", no_argument, NULL, OPTION_JSON},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    fputs("Usage: muster-codec [OPTION...] [FILE...]\n"
          "Compresses gradients and weights without loss: floating-point numbers as they lie in\n"
          "memory, little-endian. FILE becomes FILE" FILE_SUFFIX
          " and stays. Without FILE, or with -,\n"
          "standard input goes to standard output.\n"
          "\n"
          "  -d, --decompress   FILE" FILE_SUFFIX " becomes FILE\n"
          "  -t, --test         decompress to nowhere: is it whole?\n"
          "  -b, --bench        rates on one core, ratio, and Shannon's bound; writes no file\n"
          "      --type TYPE    bf16, fp16 or fp32; without it the one that compresses best\n"
          "  -c, --stdout       write to standard output\n"
          "  -o, --output FILE  write to FILE\n"
          "  -f, --force        overwrite, and write to a terminal\n"
          "      --rm           remove the input when the output is on the disk\n"
          "  -k, --keep         keep the input, as is done without it\n"
          "  -q, --quiet        no line per file, no progress\n"
          "  -v, --verbose      a line per file even when it is not a terminal\n"
          "      --path PATH    portable, avx2 or avx512 instead of the fastest\n"
          "      --json         with -b: one JSON object per file\n"
          "      --seconds S    with -b: how long each path is measured, 0.01 to 600 [1]\n"
          "  -h, --help; --version\n"
          "\n"
          "Exit status: 0 good, 1 a file could not be read, written or decoded, 2 usage.\n",
          stdout);
}

struct options {
    struct file_job job;
    bool bench, json, quiet, verbose;
    double seconds;
    enum codec_type type;
};

static int usage_error(const char *what, const char *found, const char *allowed)
{
    fprintf(stderr, "muster-codec: %s '%s': %s\n", what, found, allowed);
    return STATUS_USAGE;
}

/* -1: go on; else the status to end with. */
static int read_options(int argc, char **argv, struct options *options)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "dtbco:fkqvh", long_options, NULL)) != -1)
        switch (letter) {
        case 'd':
            options->job.action = FILE_DECODE;
            break;
        case 't':
            options->job.action = FILE_TEST;
            break;
        case 'b':
            options->bench = true;
            break;
        case 'c':
            options->job.output = "-";
            break;
        case 'o':
            if (!*optarg)
                return usage_error("--output", optarg, "the name of a file");
            options->job.output = optarg;
            break;
        case 'f':
            options->job.force = true;
            break;
        case 'k':
            options->job.remove = false;
            break;
        case 'q':
            options->quiet = true;
            break;
        case 'v':
            options->verbose = true;
            break;
        case 'h':
            print_help();
            return stdout_flush("muster-codec") == 0 ? STATUS_GOOD : STATUS_FAILED;
        case OPTION_VERSION:
            puts("muster-codec " PACKAGE_VERSION ", format 1");
            return stdout_flush("muster-codec") == 0 ? STATUS_GOOD : STATUS_FAILED;
        case OPTION_TYPE:
            if (!codec_type_parse(optarg, &options->type))
                return usage_error("--type", optarg, "bf16, fp16 or fp32");
            options->job.type = &options->type;
            break;
        case OPTION_REMOVE:
            options->job.remove = true;
            break;
        case OPTION_PATH:
            options->job.path = codec_path_named(optarg);
            if (!options->job.path)
                return usage_error("--path", optarg,
                                   "portable, avx2 or avx512, as far as this machine has them");
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case OPTION_SECONDS: {
            char *end;

            options->seconds = strtod(optarg, &end);
            if (end == optarg || *end != 0 ||
                !(options->seconds >= 0.01 && options->seconds <= 600))
                return usage_error("--seconds", optarg, "0.01 to 600");
            break;
        }
        default: /* getopt has said what is wrong */
            return STATUS_USAGE;
        }
    return -1;
}

/* ------------------------------------------------------------------------------------- bench */

static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\')
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    putchar('"');
}

static void print_bench_json(const char *input, const struct bench *bench)
{
    printf("{\"file\": ");
    print_json_text(input);
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

/* Leaves no half file behind, then dies of the signal as it would have. */
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
    struct options options = {.seconds = 1};
    int status = read_options(argc, argv, &options), inputs;

    if (status >= 0)
        return status;
    privileges_drop(); /* what it reads is not trusted */
    inputs = argc - optind;
    if (options.job.output && strcmp(options.job.output, "-") != 0 && inputs > 1)
        return usage_error("--output", options.job.output, "one FILE at a time");
    if (options.job.type && options.job.action != FILE_ENCODE)
        return usage_error("--type", codec_type_name(options.type),
                           "is for compressing; a compressed file knows its own");
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
