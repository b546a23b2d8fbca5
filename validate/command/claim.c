/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/claims/claims.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "lib/slurm/own_name.h"
#include "lib/base/read_all.h"
#include "validate/command/command.h"

enum { INPUT_MOST_BYTES = 64 << 20 };

struct options {
    const char *name, *node, *remove;
    char directory[4096];
    bool as_json, is_leave;
};

static void print_help(void)
{
    puts("Usage: muster claim [OPTION...]\n"
         "Lists what users' preflights hold against nodes, as this node keeps it. Needs root.\n"
         "Claims drain nothing: muster certify tests the nodes again and takes the claims away.\n"
         "\n"
         "  -d, --directory DIR  the claims, instead of this node's\n"
         "  -j, --json           records as JSON lines, nothing else\n"
         "      --leave          leave the claims that standard input has for this node: lines of\n"
         "                       holder, node, job, test, part and message with tabs between, as\n"
         "                       muster preflight starts it; as any user\n"
         "  -n, --node NAME      Slurm's name of this node\n"
         "      --remove LIST    remove the claims about these nodes, and what is no claim; the\n"
         "                       list - is read from standard input\n"
         "  -h, --help           this text\n"
         "\n"
         "Exit status: 0 done, 1 not done, 2 usage.");
}

static int failed(const struct options *options, const struct error *err)
{
    fprintf(stderr, "%s: %s: %s\n", options->name, options->node, err->text);
    return COMMAND_FAIL;
}

static void report(const struct options *options, const char *node, const struct claim *claim,
                   const char *metric, double value, const char *message)
{
    struct record record = RECORD_INIT;
    char run[64];

    if (!options->as_json) {
        printf("%s\n", message);
        return;
    }
    if (claim) {
        snprintf(run, sizeof run, CLAIM_RUN, claim->job_id, (unsigned)claim->uid);
        record.run = run;
        record.time = (double)claim->made;
        record.part = claim->part;
    }
    record.suite = "claim";
    record.test = "preflight.claims";
    record.metric = metric;
    record.node = node;
    record.peer = options->node;
    record.value = value;
    record.unit = metric ? "count" : NULL;
    record.verdict = metric ? VERDICT_NONE : VERDICT_WARN;
    record.message = message;
    record_write(stdout, &record);
}

static int list(const struct options *options)
{
    struct claims_overflow overflow;
    struct claim *claims;
    struct error err;
    int count = claims_read(options->directory, &claims, &overflow, &err);

    if (count < 0)
        return failed(options, &err);
    for (int i = 0; i < count; i++) {
        char text[512];

        claim_describe(&claims[i], text, sizeof text);
        if (!options->as_json)
            printf("%s: ", claims[i].node);
        report(options, claims[i].node, &claims[i], NULL, __builtin_nan(""), text);
    }
    if (overflow.files > 0) {
        char text[160];

        snprintf(text, sizeof text,
                 "%zu files beyond %d a user and %d in all removed, most of user %u",
                 overflow.files, CLAIMS_OF_USER, CLAIMS_MAX, (unsigned)overflow.uid);
        report(options, options->node, NULL, "overflow", (double)overflow.files, text);
    }
    if (count == 0) /* so that whoever asks sees that it was read */
        report(options, options->node, NULL, "claims", 0, "no claims");
    free(claims);
    return COMMAND_PASS;
}

static int remove_some(const struct options *options)
{
    struct hostlist names;
    struct error err;
    char text[64], *given = NULL;
    int removed, rv = 0;

    if (strcmp(options->remove, "-") == 0 &&
        !(given = read_to_end(STDIN_FILENO, INPUT_MOST_BYTES, &err)))
        rv = error_prefix(&err, "standard input");
    if (rv == 0)
        rv = hostlist_expand(given ? given : options->remove, &names, &err);
    free(given);
    if (rv != 0) {
        failed(options, &err);
        return COMMAND_USAGE;
    }
    removed = claims_remove(options->directory, names.names, names.count, &err);
    hostlist_clear(&names);
    if (removed < 0)
        return failed(options, &err);
    snprintf(text, sizeof text, "%d claim%s removed", removed, removed == 1 ? "" : "s");
    report(options, options->node, NULL, "removed", removed, text);
    return COMMAND_PASS;
}

/* Takes "holder node job test part message" apart. Returns 1; 0 when another node is to keep it; -1
 * when it is no such line. */
static int line_read(const struct options *options, char *line, struct claim *claim)
{
    char *words[6], *end;
    unsigned long job;

    for (int i = 0; i < 6; i++) {
        words[i] = strsep(&line, i < 5 ? "\t" : "\n");
        if (!words[i])
            return -1;
    }
    errno = 0;
    job = strtoul(words[2], &end, 10);
    if (!isdigit((unsigned char)*words[2]) || *end || errno || job == 0 || job > UINT32_MAX ||
        strlen(words[1]) >= sizeof claim->node)
        return -1;
    *claim = (struct claim){.job_id = (uint32_t)job};
    strcpy(claim->node, words[1]);
    snprintf(claim->test, sizeof claim->test, "%s", words[3]);
    snprintf(claim->part, sizeof claim->part, "%s", words[4]);
    snprintf(claim->message, sizeof claim->message, "%s", words[5]);
    return strcmp(words[0], options->node) == 0;
}

static int leave(const struct options *options)
{
    int status = COMMAND_PASS;
    char *line = NULL;
    size_t size = 0;

    for (int number = 1; getline(&line, &size, stdin) > 0; number++) {
        struct claim claim;
        struct error err;
        int is_ours = line_read(options, line, &claim);

        if (is_ours < 0) {
            error_set(&err, "standard input, line %d: found no claim", number);
            status = failed(options, &err);
        } else if (is_ours && claim_leave(options->directory, &claim, &err) < 0) {
            status = failed(options, &err);
        }
    }
    free(line);
    return status;
}

int command_claim(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"directory", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {"leave", no_argument, NULL, 'l'},
        {"node", required_argument, NULL, 'n'},
        {"remove", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.name = argv[0]};
    char host[256];
    int option;

    claims_directory("", options.directory, sizeof options.directory);
    while ((option = command_option(argc, argv, "d:hjn:", long_options)) != -1) {
        switch (option) {
        case 'd':
            if (strlen(optarg) >= sizeof options.directory)
                return command_misuse(argv[0], "the path of --directory is too long");
            strcpy(options.directory, optarg);
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'j':
            options.as_json = true;
            break;
        case 'l':
            options.is_leave = true;
            break;
        case 'n':
            options.node = optarg;
            break;
        case 'r':
            options.remove = optarg;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    if (optind < argc)
        return command_word_error(argv[0], argv[optind]);
    if (options.is_leave && options.remove)
        return command_misuse(argv[0], "--leave or --remove, not both");
    if (!options.node || !*options.node) {
        own_name("", host, sizeof host);
        options.node = host;
    }
    return options.is_leave ? leave(&options)
           : options.remove ? remove_some(&options)
                            : list(&options);
}
