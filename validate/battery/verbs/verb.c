/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/verb.h"

#include <stdio.h>

#include "lib/base/option_set.h"

static const char *const names[VERB_KINDS] = {
    [VERB_WRITE] = "rc_write",
    [VERB_READ] = "rc_read",
    [VERB_SEND] = "rc_send",
    [VERB_UD] = "ud_send",
};

struct verbs_settings verbs_defaults(void)
{
    return (struct verbs_settings){
        .wanted = (1U << VERB_KINDS) - 1,
        .queue_pairs = 1,
        .gid_index = -1,
        .message_bytes = 65536,
    };
}

const char *verb_name(enum verb verb)
{
    return names[verb];
}

int verbs_parse(const char *text, unsigned *wanted, struct error *err)
{
    *wanted = 0;
    return option_words_parse(text, "write,read,send,ud", wanted, err);
}

const char *verb_metric(const char *figure, enum verb verb, enum verb_scope scope, char *text,
                        size_t size)
{
    if (scope == VERB_LOOPBACK || scope == VERB_LOCAL)
        snprintf(text, size, "%s_%s", figure, scope == VERB_LOCAL ? "local" : "loopback");
    else
        snprintf(text, size, "%s_%s%s", figure, verb_name(verb),
                 scope == VERB_TOGETHER ? "_together" : "");
    return text;
}
