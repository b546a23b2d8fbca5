/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "validate/report/table.h"

void progress_init(struct progress *progress, FILE *stream)
{
    *progress = (struct progress){.stream = stream,
                                  .is_terminal = isatty(fileno(stream)),
                                  .has_colour = table_has_colour(stream)};
}

/* Formats the text, cleans it, prints it between `before` and `after`, and writes the event. */
static void print(struct progress *progress, struct live_event *event, const char *before,
                  const char *format, va_list values, const char *after)
{
    char *text;

    if (vasprintf(&text, format, values) < 0)
        return;
    table_clean(text);
    fprintf(progress->stream, "%s%s%s\n", before, text, after);
    text_put(event->text, sizeof event->text, "%s", text);
    live_write(progress->live, event);
    free(text);
}

static void show(struct progress *progress)
{
    struct winsize size = {0};
    char line[192];
    int length;

    length = snprintf(line, sizeof line, "  %-12s %5.1f s  %s", progress->stage,
                      clock_s() - progress->begin, progress->doing);
    if (ioctl(fileno(progress->stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
        length >= size.ws_col)
        length = size.ws_col - 1;
    fprintf(progress->stream, "\r%.*s\033[K", length, line);
    fflush(progress->stream);
    progress->shown = clock_s();
}

static void stage_event(struct progress *progress, enum live_kind kind, const char *text)
{
    struct live_event event = {.kind = kind};

    memcpy(event.stage, progress->stage, sizeof event.stage);
    text_put(event.text, sizeof event.text, "%s", text);
    live_write(progress->live, &event);
}

void progress_begin(struct progress *progress, const char *stage)
{
    snprintf(progress->stage, sizeof progress->stage, "%s", stage);
    progress->doing[0] = '\0';
    progress->begin = clock_s();
    stage_event(progress, LIVE_BEGIN, "");
    if (progress->is_terminal)
        show(progress);
}

void progress_doing(struct progress *progress, const char *format, ...)
{
    TEXT_FORMAT(progress->doing, sizeof progress->doing, format);
    table_clean(progress->doing);
    stage_event(progress, LIVE_DOING, progress->doing);
    progress_tick(progress);
}

void progress_tick(struct progress *progress)
{
    if (progress->is_terminal && *progress->stage && clock_s() - progress->shown >= 0.1)
        show(progress);
}

void progress_end(struct progress *progress, enum verdict verdict, const char *format, ...)
{
    const char *colour = progress->has_colour ? table_colour(verdict) : "";
    struct live_event event = {
        .kind = LIVE_END, .verdict = verdict, .seconds = clock_s() - progress->begin};
    va_list values;

    memcpy(event.stage, progress->stage, sizeof event.stage);
    fprintf(progress->stream, "%s  %-12s %5.1f s  ", progress->is_terminal ? "\r\033[K" : "",
            progress->stage, event.seconds);
    va_start(values, format);
    print(progress, &event, colour, format, values, *colour ? "\033[0m" : "");
    va_end(values);
    fflush(progress->stream);
    progress->stage[0] = '\0';
}

void progress_drop(struct progress *progress)
{
    if (progress->is_terminal && *progress->stage)
        fputs("\r\033[K", progress->stream);
    if (*progress->stage)
        stage_event(progress, LIVE_END, "");
    progress->stage[0] = '\0';
}

void progress_print(struct progress *progress, const char *format, ...)
{
    va_list values;

    if (progress->is_terminal && *progress->stage)
        fputs("\r\033[K", progress->stream);
    va_start(values, format);
    print(progress, &(struct live_event){.kind = LIVE_TEXT}, "", format, values, "");
    va_end(values);
    if (progress->is_terminal && *progress->stage)
        show(progress);
}
