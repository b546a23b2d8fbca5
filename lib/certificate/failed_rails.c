/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/certificate/failed_rails.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/text.h"

/* Returns whether the text of length bytes ends with end. */
static bool ends_in(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);

    return length >= end_length && strncmp(text + length - end_length, end, end_length) == 0;
}

static int list_failed(const struct certificate *certificate, struct hostlist *rails)
{
    static const char test[] = "links ";
    size_t test_length = sizeof test - 1;

    *rails = (struct hostlist){0};
    for (const char *line = certificate->tests; line && *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *end = strstr(line, ": ");
        char name[64];

        if (end && end < line + length && strncmp(line, test, test_length) == 0 &&
            !ends_in(line, length, " Mb/s") && (size_t)(end - line) - test_length < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)((size_t)(end - line) - test_length),
                     line + test_length);
            if (hostlist_append(rails, name) != 0) {
                hostlist_clear(rails);
                return -1;
            }
        }
        line += length;
    }
    return 0;
}

int failed_rails_of(const struct certificate *certificate, struct failed_rails *failed)
{
    *failed = (struct failed_rails){0};
    if (list_failed(certificate, &failed->rails) != 0)
        return -1;
    if (failed->rails.count > 0)
        text_time(failed->why, sizeof failed->why, "failed certification %Y-%m-%d",
                  certificate->issued);
    return 0;
}

void failed_rails_read(const struct conf *conf, struct failed_rails *failed)
{
    const struct certificate_facts facts = {.now = time(NULL)};
    struct certificate certificate;
    char message[512];
    enum certificate_state state;

    *failed = (struct failed_rails){0};
    if (conf->allow_failed_rails == 0)
        return;
    state = certificate_check(conf->certificate_path, 0, &facts, certificate_ignore_seal,
                              &certificate, message, sizeof message);
    if (state == CERTIFICATE_VALID || state == CERTIFICATE_EXPIRED)
        failed_rails_of(&certificate, failed);
    certificate_clear(&certificate);
}

void failed_rails_clear(struct failed_rails *failed)
{
    hostlist_clear(&failed->rails);
    failed->why[0] = '\0';
}
