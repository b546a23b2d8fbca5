/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/refusal.h"

#include "lib/certificate/refused.h"
#include "spank/deadline.h"

struct note {
    const char *certificate_path, *line;
};

static void write_note(void *context)
{
    const struct note *note = context;

    refused_write(note->certificate_path, note->line);
}

void refusal_write_note(const char *certificate_path, const char *line)
{
    deadline_try(REFUSED_DEADLINE_MS, write_note, &(struct note){certificate_path, line});
}
