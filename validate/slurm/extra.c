/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/extra.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char level_key[] = "muster_level", expires_key[] = "muster_expires";

/* Prints the object with the fewest digits that keep the site's numbers exact: 0.1 stays 0.1. */
static char *dump(const json_t *object)
{
    char *text = NULL;
    bool is_same = false;

    for (size_t digits = 15; digits <= 17 && !is_same; digits++) {
        json_t *again;

        free(text);
        text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(digits));
        again = text ? json_loads(text, 0, NULL) : NULL;
        is_same = json_equal(again, object);
        json_decref(again);
    }
    return text;
}

char *extra_set_level(const char *extra, int level, long long expires, struct error *err)
{
    json_t *object =
        extra && *extra ? json_loads(extra, JSON_REJECT_DUPLICATES, NULL) : json_object();
    char *text = NULL;

    if (!json_is_object(object)) {
        error_set(err, "Extra is '%.100s', not a JSON object: left unchanged", extra ? extra : "");
    } else if (level > 0) {
        if (json_object_set_new(object, level_key, json_integer(level)) == 0 &&
            json_object_set_new(object, expires_key, json_integer(expires)) == 0)
            text = dump(object);
    } else {
        json_object_del(object, level_key);
        json_object_del(object, expires_key);
        text = json_object_size(object) > 0 ? dump(object) : strdup("");
    }
    if (json_is_object(object) && !text)
        error_set(err, "out of memory for Extra");
    json_decref(object);
    return text;
}

bool extra_is_expired(const char *extra, long long now)
{
    json_t *object = extra && *extra ? json_loads(extra, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *expires = json_object_get(object, expires_key);
    bool is_over = json_is_integer(expires) && json_integer_value(expires) <= now;

    json_decref(object);
    return is_over;
}

char *extra_set_note(const char *extra, const char *key, const char *note, struct error *err)
{
    json_t *object =
        extra && *extra ? json_loads(extra, JSON_REJECT_DUPLICATES, NULL) : json_object();
    char *text = NULL;

    if (!json_is_object(object)) {
        error_set(err, "Extra is '%.100s', not a JSON object: left unchanged", extra ? extra : "");
        json_decref(object);
        return NULL;
    }
    if (!note)
        json_object_del(object, key);
    if (!note || json_object_set_new(object, key, json_string(note)) == 0)
        text = json_object_size(object) > 0 ? dump(object) : strdup("");
    if (!text)
        error_set(err, "out of memory for Extra");
    json_decref(object);
    return text;
}

char *extra_read_note(const char *extra, const char *key)
{
    json_t *object = extra && *extra ? json_loads(extra, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *note = json_string_value(json_object_get(object, key));
    char *copy = note ? strdup(note) : NULL;

    json_decref(object);
    return copy;
}
