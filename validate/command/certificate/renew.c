/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/seal.h"
#include "validate/command/certificate/certificate.h"
#include "validate/command/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What verify() passes on: certificate_check() has no context argument, and a process renews only
 * one certificate. */
static struct {
    const char *socket, *old_socket;
    char *text; /* the sealed text, if the old seal cannot be decoded any more; malloc'd */
} renewal;

/* A seal that munged cannot decode counts as root's: by the munged that has the old key, or without
 * one by its place. certificate_check() has checked that only root can write there, and root could
 * have any text sealed by certificate issue. */
static int verify(const char *seal, const char *text, size_t text_length, struct error *err)
{
    int verdict = seal_verify(seal, text, text_length, err);

    if (verdict != SEAL_UNDECODABLE)
        return verdict;
    if (renewal.old_socket) {
        seal_use_socket(renewal.old_socket);
        verdict = seal_verify(seal, text, text_length, err);
        seal_use_socket(renewal.socket);
        if (verdict != SEAL_GENUINE) {
            error_prefix(err, "by the munged of --old-socket");
            return verdict;
        }
    }
    free(renewal.text);
    renewal.text = strndup(text, text_length);
    return renewal.text ? SEAL_GENUINE : error_set(err, "out of memory");
}

/* Seals the same text again. Returns 0, or -1 with err. */
static int seal_again(const struct certificate_place *place, struct error *err)
{
    char *seal = NULL;
    int rv = seal_make(renewal.text, strlen(renewal.text), &seal, err);

    if (rv == 0)
        rv = certificate_install(place->path, renewal.text, seal, err);
    free(seal);
    return rv;
}

static int renew(const struct certificate_options *options, const struct certificate_place *place)
{
    const struct certificate_facts facts = certificate_place_facts(
        place, options->cluster ? options->cluster : getenv("SLURM_CLUSTER_NAME"));
    enum certificate_state state;
    char found[512], message[700];
    struct error err;
    int status;

    renewal.socket = place->conf.munge_socket;
    renewal.old_socket = options->old_socket;
    state = certificate_check(place->path, 0, &facts, verify, NULL, found, sizeof found);
    if (state != CERTIFICATE_VALID) {
        snprintf(message, sizeof message, "not renewed: certificate %s: %s; next: muster certify",
                 certificate_state_name(state), found);
        return certificate_report(options, place, "", certificate_exit_status(state), "", message);
    }
    if (!renewal.text)
        return certificate_report(options, place, "", COMMAND_PASS, "",
                                  "nothing to renew: this node's MUNGE key decodes the seal");
    if (seal_again(place, &err) != 0) {
        snprintf(message, sizeof message, "not renewed: %s", err.text);
        return certificate_report(options, place, "", COMMAND_FAIL, "", message);
    }
    state = certificate_check(place->path, 0, &facts, seal_verify, NULL, found, sizeof found);
    status = certificate_exit_status(state);
    snprintf(message, sizeof message, "certificate %s: %s",
             status == COMMAND_PASS ? "renewed" : certificate_state_name(state), found);
    return certificate_report(options, place, "", status, "", message);
}

int certificate_renew(const struct certificate_options *options)
{
    struct certificate_place place;
    int status;

    if (geteuid() != 0)
        return command_misuse(options->name, "renew needs root");
    if (options->old_socket && seal_use_socket(options->old_socket) != 0)
        return command_failed(COMMAND_USAGE, options->name, "path of --old-socket too long");
    status = certificate_place_read(options, &place);
    if (status == COMMAND_PASS)
        status = renew(options, &place);
    free(renewal.text);
    renewal.text = NULL;
    certificate_place_clear(&place);
    return status;
}
