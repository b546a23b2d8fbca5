/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/hostlist.h"
#include "lib/base/memory_stream.h"
#include "lib/base/text.h"
#include "lib/certificate/brake.h"
#include "lib/certificate/failed_rails.h"
#include "lib/certificate/refused.h"
#include "lib/certificate/seal.h"
#include "validate/command/certificate/certificate.h"
#include "validate/command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The request of standard input for this node. */
struct request {
    struct certificate certificate; /* its tests are in the stream below until the end */
    bool has_node;                  /* this node is among those to certify */
    time_t keep;                    /* a certificate of a higher level valid until then stays; 0 */
    char *tests;
    size_t tests_length;
    FILE *tests_stream;
};

/* Copies a value into a field of the certificate; certificate_format() checks its characters. */
static int take_word(char *field, size_t size, const char *value, struct error *err)
{
    if (*field)
        return error_set(err, "found it a second time");
    if (!*value || strlen(value) >= size)
        return error_set(err, "found \"%.80s\", expected a word of at most %zu letters", value,
                         size - 1);
    strcpy(field, value);
    return 0;
}

static int take_time(time_t *field, const char *value, struct error *err)
{
    char *end;
    long long number;

    if (*field)
        return error_set(err, "found it a second time");
    errno = 0;
    number = strtoll(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || number <= 0)
        return error_set(err, "found \"%.80s\", expected seconds since 1970", value);
    *field = (time_t)number;
    return 0;
}

/* Sets *does to whether the list, in Slurm's notation, has the node. Returns 0, or -1 with err. */
static int list_contains(const char *list, const char *node, bool *does, struct error *err)
{
    struct hostlist names;

    *does = strcmp(list, node) == 0;
    if (*does)
        return 0;
    if (hostlist_expand(list, &names, err) != 0)
        return error_prefix(err, "node");
    *does = hostlist_contains(&names, node);
    hostlist_clear(&names);
    return 0;
}

/* Parses one line of the request. is_ours: whether its block is for this node. */
static int take_line(struct request *request, const char *node, char *line, bool *is_head,
                     bool *is_ours, struct error *err)
{
    struct certificate *certificate = &request->certificate;
    char *value = strstr(line, ": ");

    if (!value)
        return error_set(err, "found \"%.80s\", expected \"key: value\"", line);
    *value = '\0';
    value += 2;
    if (strcmp(line, "node") == 0) {
        *is_head = false;
        if (list_contains(value, node, is_ours, err) != 0)
            return -1;
        if (*is_ours && request->has_node)
            return error_set(err, "node: found %.80s a second time", node);
        request->has_node |= *is_ours;
        return 0;
    }
    if (!*is_head) {
        if (strcmp(line, "test") != 0 && strcmp(line, "keep") != 0)
            return error_set(err, "found \"%.80s\", expected node, keep or test", line);
        if (*is_ours && strcmp(line, "keep") == 0)
            return take_time(&request->keep, value, err) == 0 ? 0 : error_prefix(err, "keep");
        if (*is_ours)
            fprintf(request->tests_stream, "%s\n", value);
        return 0;
    }
    if (strcmp(line, "run") == 0)
        take_word(certificate->run, sizeof certificate->run, value, err);
    else if (strcmp(line, "cluster") == 0)
        take_word(certificate->cluster, sizeof certificate->cluster, value, err);
    else if (strcmp(line, "level") == 0)
        take_word(certificate->level, sizeof certificate->level, value, err);
    else if (strcmp(line, "expires") == 0)
        take_time(&certificate->expires, value, err);
    else
        return error_set(err, "found \"%.80s\", expected run, cluster, level, expires or node",
                         line);
    return *err->text ? error_prefix(err, "%s", line) : 0;
}

/* Reads standard input to its end, even after an error: all nodes get the same input, and its
 * writer must not get a closed pipe. */
static int read_request(const char *node, struct request *request, struct error *err)
{
    bool is_head = true, is_ours = false;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int result = 0;

    err->text[0] = '\0';
    request->tests_stream = memory_stream(&request->tests, &request->tests_length);
    if (!request->tests_stream)
        return error_set(err, "out of memory");
    for (unsigned number = 1; (length = getline(&line, &size, stdin)) >= 0; number++) {
        if (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        if (result != 0)
            continue;
        if (strlen(line) != (size_t)length)
            result = error_set(err, "found a NUL byte");
        else
            result = take_line(request, node, line, &is_head, &is_ours, err);
        if (result != 0)
            error_prefix(err, "standard input, line %u", number);
    }
    if (result == 0 && ferror(stdin))
        result = error_set(err, "standard input: %m");
    free(line);
    if (fclose(request->tests_stream) != 0 && result == 0)
        result = error_set(err, "out of memory");
    request->certificate.tests = request->tests;
    if (result == 0 && is_head)
        result = error_set(err, "standard input: found no node, expected those to certify");
    if (result == 0 && !request->certificate.cluster[0])
        result = error_set(err, "standard input: found no cluster");
    if (result == 0 && !request->certificate.level[0])
        result = error_set(err, "standard input: found no level");
    if (result == 0 && request->certificate.expires <= time(NULL))
        result = error_set(err, "standard input: found no time in the future for expires");
    return result;
}

static bool has_failed_rails(const struct certificate *certificate)
{
    struct failed_rails failed;
    bool has = failed_rails_of(certificate, &failed) != 0 || failed.rails.count > 0;

    failed_rails_clear(&failed);
    return has;
}

/* Whether the node's current certificate stays: passing a test of a lower level does not replace
 * it, unless a rail failed then or now. Sets standing to it; clear standing in any case. */
static bool is_kept(const struct certificate_place *place, const struct request *request,
                    struct certificate *standing)
{
    const struct certificate_facts facts =
        certificate_place_facts(place, request->certificate.cluster);
    char message[400];

    *standing = (struct certificate){.tests = NULL};
    return request->keep != 0 &&
           certificate_check(place->path, 0, &facts, seal_verify, standing, message,
                             sizeof message) == CERTIFICATE_VALID &&
           certificate_level(standing->level) > certificate_level(request->certificate.level) &&
           standing->expires >= request->keep && !has_failed_rails(standing) &&
           !has_failed_rails(&request->certificate);
}

/* Makes, seals and installs the certificate, and checks it as a job's prolog will. */
static int issue(const struct certificate_place *place, struct certificate *certificate,
                 struct error *err)
{
    const struct certificate_facts facts = certificate_place_facts(place, certificate->cluster);
    char *text, *seal = NULL, message[400];
    enum certificate_state state;
    int result = -1;

    if (snprintf(certificate->node, sizeof certificate->node, "%s", place->node) >=
        (int)sizeof certificate->node)
        return error_set(err, "the name of the node is too long: %.80s", place->node);
    snprintf(certificate->boot_id, sizeof certificate->boot_id, "%s", place->inventory->boot_id);
    certificate->issued = facts.now;
    certificate->fingerprint = place->fingerprint; /* borrowed */
    text = certificate_format(certificate);
    if (!text)
        error_set(err, errno == EINVAL ? "the request has a value not allowed in a certificate: a "
                                         "control character, a line too long, a blank in a name"
                                       : "%m");
    else if (seal_make(text, strlen(text), &seal, err) == 0)
        result = certificate_install(place->path, text, seal, err);
    certificate->fingerprint = NULL;
    free(seal);
    free(text);
    if (result != 0)
        return -1;
    state = certificate_check(place->path, 0, &facts, seal_verify, NULL, message, sizeof message);
    if (state != CERTIFICATE_VALID)
        return error_set(err, "%s was written, but is %s: %s", place->path,
                         certificate_state_name(state), message);
    return 0;
}

static void report_kept(const struct certificate_options *options,
                        const struct certificate_place *place, const char *run,
                        const struct certificate *standing)
{
    struct record record = RECORD(.suite = "certificate", .test = "certificate",
                                  .run = *run ? run : NULL, .node = place->node);
    char message[400];

    text_put(message, sizeof message, "%s kept: its level is %s", place->path, standing->level);
    if (!options->as_json) {
        printf("%s: certificate %s\n", place->node, message);
        return;
    }
    record.metric = "level";
    record_put(stdout, record, "%s", standing->level);
    record.metric = "expires";
    record.value = (double)standing->expires;
    record.unit = "s";
    record.verdict = VERDICT_PASS;
    record_put(stdout, record, "%s", message);
}

int certificate_issue(const struct certificate_options *options)
{
    struct certificate_place place;
    struct certificate standing = {.tests = NULL};
    struct request request = {0};
    struct error err;
    int status = certificate_place_read(options, &place);

    if (status != COMMAND_PASS)
        goto out;
    err.text[0] = '\0';
    if (read_request(place.node, &request, &err) == 0 && request.has_node) {
        if (geteuid() != 0)
            error_set(&err, "only root can seal one; run as root");
        else if (is_kept(&place, &request, &standing))
            report_kept(options, &place, request.certificate.run, &standing);
        else if (issue(&place, &request.certificate, &err) == 0)
            certificate_report(options, &place, request.certificate.run, COMMAND_PASS,
                               "certificate ", place.path);
    }
    if (*err.text)
        status = certificate_report(options, &place, request.certificate.run, COMMAND_FAIL,
                                    "no certificate: ", err.text);
    if (status == COMMAND_PASS && request.has_node) {
        refused_remove(place.path);
        brake_remove(place.path, NULL);
    }
out:
    certificate_clear(&standing);
    certificate_clear(&request.certificate);
    certificate_place_clear(&place);
    return status;
}
