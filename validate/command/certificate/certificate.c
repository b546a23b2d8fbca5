/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/text.h"
#include "lib/certificate/fingerprint.h"
#include "lib/certificate/seal.h"
#include "validate/command/certificate/certificate.h"
#include "validate/command/command.h"
#include "validate/command/jsontext.h"

#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void certificate_place_clear(struct certificate_place *place)
{
    conf_clear(&place->conf);
    inventory_free(place->inventory);
    free(place->fingerprint);
    *place = (struct certificate_place){0};
}

struct certificate_facts certificate_place_facts(const struct certificate_place *place,
                                                 const char *cluster)
{
    return (struct certificate_facts){.node = place->node,
                                      .cluster = cluster,
                                      .fingerprint = place->fingerprint,
                                      .now = time(NULL)};
}

int certificate_place_read(const struct certificate_options *options,
                           struct certificate_place *place)
{
    struct error err;
    int status;

    *place = (struct certificate_place){0};
    status = command_conf(options->name, options->config, &place->conf);
    if (status != COMMAND_PASS)
        return status;
    seal_use_socket(place->conf.munge_socket);
    if (options->file && strlen(options->file) >= sizeof place->path)
        return command_failed(COMMAND_USAGE, options->name, "path of --file too long");
    snprintf(place->path, sizeof place->path, "%s",
             options->file ? options->file : place->conf.certificate_path);
    place->inventory = inventory_read("", &err);
    if (!place->inventory)
        return command_failed(COMMAND_UNKNOWN, options->name, "%s", err.text);
    place->fingerprint = fingerprint_node(place->inventory, &place->conf);
    if (!place->fingerprint)
        return command_failed(COMMAND_UNKNOWN, options->name, "out of memory");
    snprintf(place->node, sizeof place->node, "%s", command_node(options->node, ""));
    return COMMAND_PASS;
}

static enum certificate_state examine(const struct certificate_options *options,
                                      const struct certificate_place *place,
                                      struct certificate *certificate, char *message, size_t size)
{
    const struct certificate_facts facts = certificate_place_facts(
        place, options->cluster ? options->cluster : getenv("SLURM_CLUSTER_NAME"));

    return certificate_check(place->path, 0, &facts, seal_verify, certificate, message, size);
}

int certificate_exit_status(enum certificate_state state)
{
    switch (state) {
    case CERTIFICATE_VALID:
        return COMMAND_PASS;
    case CERTIFICATE_UNVERIFIED:
    case CERTIFICATE_UNVERIFIABLE:
        return COMMAND_UNKNOWN;
    case CERTIFICATE_MISSING:
    case CERTIFICATE_EXPIRED:
    case CERTIFICATE_CHANGED:
    case CERTIFICATE_INVALID:
        break;
    }
    return COMMAND_FAIL;
}

enum verdict certificate_verdict(int status)
{
    return status == COMMAND_PASS   ? VERDICT_PASS
           : status == COMMAND_FAIL ? VERDICT_FAIL
                                    : VERDICT_UNKNOWN;
}

int certificate_report(const struct certificate_options *options,
                       const struct certificate_place *place, const char *run, int status,
                       const char *what, const char *message)
{
    if (options->as_json)
        record_put(stdout,
                   RECORD(.suite = "certificate", .test = "certificate", .run = *run ? run : NULL,
                          .node = place->node, .verdict = certificate_verdict(status)),
                   "%s", message);
    else if (status == COMMAND_PASS)
        printf("%s: %s%s\n", place->node, what, message);
    if (status != COMMAND_PASS)
        fprintf(stderr, "%s: %s: %s%s\n", options->name, place->node, what, message);
    return status;
}

static const char *date_text(time_t time, char text[32])
{
    return *text_time(text, 32, "%Y-%m-%d %H:%M:%S UTC", time) ? text : "-";
}

/* Prints each line of text as a row; only the first has the title. */
static void print_rows(const char *title, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");

        printf("%-13s%.*s\n", title, (int)length, text);
        title = "";
        text += length + (text[length] == '\n');
    }
}

static void print_people(const struct certificate_place *place, enum certificate_state state,
                         const struct certificate *certificate, const char *message)
{
    char date[32], *brake;

    printf("%-13s%s\n%-13s%s: %s\n", "certificate", place->path, "state",
           certificate_state_name(state), message);
    brake = certificate_brake_text(place, state, certificate);
    if (brake && *brake)
        printf("%-13s%s\n", "brake", brake);
    free(brake);
    if (!certificate->node[0])
        return;
    printf("%-13s%s\n%-13s%s\n%-13s%s\n", "node", certificate->node, "cluster",
           certificate->cluster, "level", certificate->level);
    if (certificate->run[0])
        printf("%-13s%s\n", "run", certificate->run);
    if (certificate->boot_id[0])
        printf("%-13s%s%s\n", "boot", certificate->boot_id,
               strcmp(certificate->boot_id, place->inventory->boot_id) == 0
                   ? ""
                   : " (the node was rebooted since)");
    printf("%-13s%s\n", "issued", date_text(certificate->issued, date));
    printf("%-13s%s\n", "expires", date_text(certificate->expires, date));
    print_rows("tests", certificate->tests);
    print_rows("fingerprint", certificate->fingerprint);
}

static json_t *lines_json(const char *text)
{
    json_t *array = json_array();

    while (text && *text) {
        size_t length = strcspn(text, "\n");

        json_array_append_new(array, jsontext_of(text, length));
        text += length + (text[length] == '\n');
    }
    return array;
}

static int print_json(const struct certificate_place *place, enum certificate_state state,
                      const struct certificate *certificate, const char *message)
{
    char *brake = certificate_brake_text(place, state, certificate);
    json_t *object = json_object();

    json_object_set_new(object, "path", jsontext(place->path));
    json_object_set_new(object, "state", jsontext(certificate_state_name(state)));
    json_object_set_new(object, "message", jsontext(message));
    if (brake && *brake)
        json_object_set_new(object, "brake", jsontext(brake));
    free(brake);
    if (certificate->node[0]) {
        json_object_set_new(object, "node", jsontext(certificate->node));
        json_object_set_new(object, "cluster", jsontext(certificate->cluster));
        json_object_set_new(object, "level", jsontext(certificate->level));
        if (certificate->run[0])
            json_object_set_new(object, "run", jsontext(certificate->run));
        if (certificate->boot_id[0])
            json_object_set_new(object, "boot", jsontext(certificate->boot_id));
        json_object_set_new(object, "issued", json_integer(certificate->issued));
        json_object_set_new(object, "expires", json_integer(certificate->expires));
        json_object_set_new(object, "tests", lines_json(certificate->tests));
        json_object_set_new(object, "fingerprint", lines_json(certificate->fingerprint));
    }
    return jsontext_print(stdout, JSON_INDENT(2), object);
}

static int show(const struct certificate_options *options)
{
    struct certificate_place place;
    struct certificate certificate = {0};
    enum certificate_state state;
    char message[512];
    int status = certificate_place_read(options, &place);

    if (status == COMMAND_PASS) {
        state = examine(options, &place, &certificate, message, sizeof message);
        status = certificate_exit_status(state);
        if (!options->as_json)
            print_people(&place, state, &certificate, message);
        else if (print_json(&place, state, &certificate, message) < 0)
            status = COMMAND_UNKNOWN;
    }
    certificate_clear(&certificate);
    certificate_place_clear(&place);
    return status;
}

static int verify(const struct certificate_options *options)
{
    struct certificate_place place;
    char message[512];
    int status = certificate_place_read(options, &place);

    if (status == COMMAND_PASS) {
        enum certificate_state state = examine(options, &place, NULL, message, sizeof message);
        const char *name = certificate_state_name(state);

        status = certificate_exit_status(state);
        if (options->as_json)
            record_put(stdout,
                       RECORD(.suite = "certificate", .test = "certificate", .node = place.node,
                              .verdict = certificate_verdict(status)),
                       "%s: %s", name, message);
        else
            printf("%s: certificate %s: %s\n", place.node, name, message);
    }
    certificate_place_clear(&place);
    return status;
}

static const struct action {
    const char *name;
    int (*run)(const struct certificate_options *options);
} actions[] = {{"show", show},
               {"verify", verify},
               {"issue", certificate_issue},
               {"renew", certificate_renew},
               {"brake", certificate_brake}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct option_row rows[] = {
    OPTION('\0', "brake", "STATE",
           "off lifts the gate's brake on this node: jobs are refused as muster.conf says, even if "
           "many nodes refuse jobs; needs root",
           TEXT, OPTION_FIELD(struct certificate_options, brake), .choices = "on|off"),
    OPTION('C', "cluster", "NAME",
           "expected cluster, instead of $SLURM_CLUSTER_NAME; without either, any cluster", TEXT,
           OPTION_FIELD(struct certificate_options, cluster)),
    COMMAND_CONFIG(struct certificate_options),
    OPTION('f', "file", "FILE", "certificate file, instead of CertificateFile of muster.conf", TEXT,
           OPTION_FIELD(struct certificate_options, file)),
    OPTION('j', "json", NULL, "print one JSON object: the certificate for show, otherwise a record",
           FLAG, OPTION_FIELD(struct certificate_options, as_json)),
    COMMAND_NODE(struct certificate_options),
    OPTION('\0', "old-socket", "PATH",
           "socket of a munged with the old key: renew trusts it instead of the file's owner", TEXT,
           OPTION_FIELD(struct certificate_options, old_socket)),
    OPTION('\0', "renew", NULL, "the same as renew", FLAG,
           OPTION_FIELD(struct certificate_options, is_renew)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster certificate",
    .usage = "muster certificate show|verify|issue|renew [OPTION...]",
    .summary =
        "Handles the certificate of this node: show prints it, verify checks it (one line), issue "
        "writes a new one, renew seals it with a new MUNGE key.\n\n"
        "renew needs root. After a change of the MUNGE key it seals the same text again with the "
        "same expiry, if the certificate is otherwise valid.\n\n"
        "issue needs root; muster certify runs it on the nodes that pass. It reads a request from "
        "standard input, with the last two lines repeated for each node, and does nothing on a "
        "node that is not listed:\n"
        "  run: ID\n"
        "  cluster: NAME\n"
        "  level: LEVEL\n"
        "  expires: SECONDS since 1970\n"
        "  node: NAME\n"
        "  test: TEXT",
    .status = "0 valid, issued or renewed, 1 otherwise, 2 usage, 3 cannot tell.",
    .rows = rows,
    .words = 1,
};

int command_certificate(int argc, char **argv)
{
    struct certificate_options options = {.name = argv[0]};
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    options.action = options.brake ? "brake" : options.is_renew ? "renew" : NULL;
    if (options.action && argc > optind)
        return command_misuse(argv[0], "--%s takes no action, found \"%s\"", options.action,
                              argv[optind]);
    if (argc - optind != (options.action ? 0 : 1))
        return command_misuse(argv[0], "expected one of show, verify, issue, renew");
    if (!options.action)
        options.action = argv[optind];
    for (size_t i = 0; i < ACTIONS; i++)
        if ((options.brake || strcmp(options.action, "brake") != 0) &&
            strcmp(options.action, actions[i].name) == 0)
            return actions[i].run(&options);
    return command_misuse(argv[0], "expected one of show, verify, issue, renew, found \"%s\"",
                          options.action);
}
