/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/brake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"
#include "lib/certificate/fingerprint.h"

enum { BRAKE_BYTES = 1023 };

static const char *const permissions[] = {
    [BRAKE_ON] = "no", [BRAKE_PERMITTED] = "yes", [BRAKE_LIFTED] = "lifted"};

enum conf_policy certificate_policy(const struct conf *conf, enum certificate_state state,
                                    const char **key)
{
    enum conf_policy strictest = conf->on_missing;

    *key = "OnMissing";
    switch (state) {
    case CERTIFICATE_VALID:
    case CERTIFICATE_UNVERIFIED:
        return POLICY_LOG;
    case CERTIFICATE_MISSING:
        break;
    case CERTIFICATE_EXPIRED:
        *key = "OnExpired";
        return conf->on_expired;
    case CERTIFICATE_CHANGED:
        *key = "OnChanged";
        return conf->on_changed;
    case CERTIFICATE_UNVERIFIABLE:
        *key = "OnUnverifiable";
        return conf->on_unverifiable;
    case CERTIFICATE_INVALID:
        if (conf->on_expired > strictest) {
            strictest = conf->on_expired;
            *key = "OnExpired";
        }
        if (conf->on_changed > strictest) {
            strictest = conf->on_changed;
            *key = "OnChanged";
        }
        break;
    }
    return strictest;
}

void brake_cause(enum certificate_state state, const char *then, const char *now,
                 char cause[BRAKE_CAUSE])
{
    char fact[BRAKE_CAUSE] = "";

    if (state == CERTIFICATE_CHANGED)
        fingerprint_first_difference(then ? then : "", now ? now : "", fact, sizeof fact);
    /* "gpu 0000:1a:00.0" becomes "gpu 0000": GPUs of any slot are one cause */
    fact[strcspn(fact, ":")] = '\0';
    snprintf(cause, BRAKE_CAUSE, "%s%s%.40s", certificate_state_name(state), *fact ? " " : "",
             fact);
    text_make_ascii(cause);
}

static int path_of(const char *certificate_path, char path[300], struct error *err)
{
    return path_beside(certificate_path, "brake", path, 300)
               ? 0
               : error_set(err, "%.80s: not a certificate path", certificate_path);
}

/* Copies the value of the first line that begins with key. Returns false if there is none. */
static bool value_of(const char *text, const char *key, char *value, size_t size)
{
    const char *line = strstr(text, key);

    if (!line)
        return false;
    line += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
    text_make_ascii(value);
    return true;
}

static int parse(const char *text, struct brake *brake)
{
    char time[24], permission[16];

    if (strncmp(text, "muster brake 1\n", 15) != 0 ||
        !value_of(text, "\ntime: ", time, sizeof time) ||
        !value_of(text, "\nleave: ", permission, sizeof permission) ||
        !value_of(text, "\ncause: ", brake->cause, sizeof brake->cause) ||
        !value_of(text, "\nmessage: ", brake->message, sizeof brake->message))
        return -1;
    brake->when = (time_t)strtoll(time, NULL, 10);
    for (size_t i = 0; i < sizeof permissions / sizeof *permissions; i++)
        if (strcmp(permission, permissions[i]) == 0) {
            brake->permission = (enum brake_permission)i;
            return 0;
        }
    return -1;
}

int brake_read(const char *certificate_path, struct brake *brake, struct error *err)
{
    char path[300], *text;
    int rv;

    *brake = (struct brake){0};
    if (path_of(certificate_path, path, err) != 0)
        return -1;
    rv = regular_file_read_trusted(path, 0, BRAKE_BYTES, &text, err);
    if (rv == 0 && parse(text, brake) != 0)
        rv = error_set(err, "%s is not a brake file", path);
    free(text);
    return rv;
}

int brake_write(const char *certificate_path, const struct brake *brake, struct error *err)
{
    struct atomic_file file;
    char path[300];

    if (path_of(certificate_path, path, err) != 0 || atomic_file_begin(&file, path, 0644, err) != 0)
        return -1;
    file.mode = 0644;
    file.is_unsynced = true; /* no fsync(): if the file is lost, no job is refused */
    fprintf(file.stream, "muster brake 1\ntime: %lld\nleave: %s\ncause: %s\nmessage: %s\n",
            (long long)brake->when, permissions[brake->permission], brake->cause, brake->message);
    return atomic_file_commit(&file, err);
}

int brake_remove(const char *certificate_path, struct error *err)
{
    char path[300];

    if (path_of(certificate_path, path, err) != 0)
        return -1;
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
               ? 0
               : error_set(err, "%s: %m", path);
}

bool brake_permits(const struct brake *brake, const char *cause, time_t now, char *why, size_t size)
{
    if (brake && brake->permission == BRAKE_LIFTED) {
        snprintf(why, size, "lifted: %s", brake->message);
        return true;
    }
    if (!brake || brake->when + BRAKE_FRESH_S < now || brake->when > now + BRAKE_FRESH_S ||
        strcmp(brake->cause, cause) != 0) {
        snprintf(why, size,
                 "muster check --health has not looked at the cluster for \"%s\" within %d minutes",
                 cause, BRAKE_FRESH_S / 60);
        return false;
    }
    snprintf(why, size, "%s", brake->message);
    return brake->permission == BRAKE_PERMITTED;
}

bool brake_is_recent(const struct brake *brake, const char *cause, time_t now)
{
    return brake->permission == BRAKE_ON && brake->when <= now &&
           now < brake->when + BRAKE_FRESH_S / 2 && strcmp(brake->cause, cause) == 0;
}
