/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/verbs/verb.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *option, *name;
} verbs[VERB_KINDS] = {
    [VERB_WRITE] = {"write", "rc_write"},
    [VERB_READ] = {"read", "rc_read"},
    [VERB_SEND] = {"send", "rc_send"},
    [VERB_UD] = {"ud", "ud_send"},
};

struct verbs_settings verbs_defaults(void)
{
    return (struct verbs_settings){
        .is_wanted = {true, true, true, true},
        .queue_pairs = 1,
        .gid_index = -1,
        .message_bytes = 65536,
    };
}

const char *verb_name(enum verb verb)
{
    return verbs[verb].name;
}

static int verb_of(const char *name, size_t length)
{
    for (int verb = 0; verb < VERB_KINDS; verb++)
        if (strlen(verbs[verb].option) == length && strncmp(verbs[verb].option, name, length) == 0)
            return verb;
    return -1;
}

int verbs_parse(const char *text, struct verbs_settings *settings, struct error *err)
{
    bool is_wanted[VERB_KINDS] = {false};

    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");
        int verb = verb_of(name, length);

        if (verb < 0 || is_wanted[verb])
            return error_set(err, "expected some of write, read, send, ud, each once, found \"%s\"",
                             text);
        is_wanted[verb] = true;
        name += length;
        if (!*name)
            break;
    }
    memcpy(settings->is_wanted, is_wanted, sizeof is_wanted);
    return 0;
}

void verb_metric(const char *figure, enum verb verb, enum verb_scope scope, char *text, size_t size)
{
    if (scope == VERB_LOOPBACK || scope == VERB_LOCAL)
        snprintf(text, size, "%s_%s", figure, scope == VERB_LOCAL ? "local" : "loopback");
    else
        snprintf(text, size, "%s_%s%s", figure, verb_name(verb),
                 scope == VERB_TOGETHER ? "_together" : "");
}
