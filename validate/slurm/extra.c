/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/extra.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

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

/* Returns the object; NULL if extra is none, or memory is out. */
static json_t *load(const char *extra)
{
    return extra && *extra ? json_loads(extra, JSON_REJECT_DUPLICATES, NULL) : json_object();
}

/* Returns the text of the object, which is released. is_changed: false if memory is out. */
static char *finish(json_t *object, bool is_changed, const char *extra, struct error *err)
{
    char *text = NULL;

    if (!json_is_object(object))
        error_set(err, "Extra is '%.100s', not a JSON object: left unchanged", text_of(extra));
    else if (is_changed)
        text = json_object_size(object) > 0 ? dump(object) : strdup("");
    if (json_is_object(object) && !text)
        error_set(err, "out of memory for Extra");
    json_decref(object);
    return text;
}

char *extra_set_level(const char *extra, int level, long long expires, struct error *err)
{
    json_t *object = load(extra);
    bool is_changed = true;

    if (level > 0) {
        is_changed = json_object_set_new(object, level_key, json_integer(level)) == 0 &&
                     json_object_set_new(object, expires_key, json_integer(expires)) == 0;
    } else {
        json_object_del(object, level_key);
        json_object_del(object, expires_key);
    }
    return finish(object, is_changed, extra, err);
}

bool extra_is_expired(const char *extra, long long now)
{
    json_t *object = load(extra);
    const json_t *expires = json_object_get(object, expires_key);
    bool is_over = json_is_integer(expires) && json_integer_value(expires) <= now;

    json_decref(object);
    return is_over;
}

char *extra_set_note(const char *extra, const char *key, const char *note, struct error *err)
{
    json_t *object = load(extra);
    bool is_changed = !note || json_object_set_new(object, key, json_string(note)) == 0;

    if (!note)
        json_object_del(object, key);
    return finish(object, is_changed, extra, err);
}

char *extra_read_note(const char *extra, const char *key)
{
    json_t *object = load(extra);
    const char *note = json_string_value(json_object_get(object, key));
    char *copy = note ? strdup(note) : NULL;

    json_decref(object);
    return copy;
}
