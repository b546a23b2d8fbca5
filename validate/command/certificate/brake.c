/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/brake.h"
#include "validate/command/certificate/certificate.h"
#include "validate/command/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char *certificate_brake_text(const struct certificate_place *place, enum certificate_state state,
                             const struct certificate *certificate)
{
    char cause[BRAKE_CAUSE], why[300], *text;
    struct brake brake;
    const char *key;
    int status;

    if (certificate_policy(&place->conf, state, &key) != POLICY_REFUSE)
        return strdup("");
    if (place->conf.gate_brake == 0)
        return strdup("none (GateBrake=off): jobs are refused");
    brake_cause(state, certificate->fingerprint, place->fingerprint, cause);
    status = brake_read(place->path, &brake, NULL);
    if (brake_permits(status == 0 ? &brake : NULL, cause, time(NULL), why, sizeof why))
        return asprintf(&text, "off, jobs are refused: %s", why) < 0 ? NULL : text;
    return asprintf(&text,
                    "on, jobs are not refused: %s; to lift it: muster certificate "
                    "--brake=off",
                    why) < 0
               ? NULL
               : text;
}

int certificate_brake(const struct certificate_options *options)
{
    struct brake brake = {.when = time(NULL), .permission = BRAKE_LIFTED, .cause = "any"};
    bool is_off = strcmp(options->brake, "off") == 0;
    struct certificate_place place;
    struct error err;
    int status, rv;

    if (geteuid() != 0)
        return command_misuse(options->name, "--brake needs root");
    status = certificate_place_read(options, &place);
    if (status != COMMAND_PASS)
        goto out;
    snprintf(brake.message, sizeof brake.message,
             "by an administrator, until the certificate holds again or muster certificate "
             "--brake=on");
    rv = is_off ? brake_write(place.path, &brake, &err) : brake_remove(place.path, &err);
    status = certificate_report(
        options, &place, "", rv == 0 ? COMMAND_PASS : COMMAND_FAIL, "",
        rv != 0  ? err.text
        : is_off ? "brake lifted: this node refuses jobs as muster.conf says"
                 : "brake on: this node refuses no job until the next muster check --health");
out:
    certificate_place_clear(&place);
    return status;
}
