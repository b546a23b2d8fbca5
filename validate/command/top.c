/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/command/command.h"
#include "validate/report/live.h"
#include "validate/report/table.h"

/* Shows the progress of root's runs on this host. On a terminal redraws a view; elsewhere prints a
 * line per event, until the runs are over. */

enum { LINE_BYTES = 4096, LINES_KEPT = 64, OVER_KEPT = 3, PATH_BYTES = 4096 };

struct options {
    const char *root;
    bool as_json, is_once;
};

/* A run whose file exists or existed. Its events are kept as the lines to show. */
struct view {
    char name[128];
    int fd;
    bool is_over;
    char partial[LINE_BYTES]; /* an incomplete line */
    size_t partial_length;
    char *lines[LINES_KEPT]; /* malloc'd; the newest LINES_KEPT, from line_count % LINES_KEPT on */
    enum verdict colours[LINES_KEPT];
    size_t line_count;
    char stage[24], doing[400]; /* stage "": between stages */
    double began_s;             /* of the stage, clock_epoch_s() */
};

struct top {
    const struct options *options;
    char directory[PATH_BYTES];
    struct view *views;
    size_t count;
    bool is_terminal, has_colour;
};

static volatile sig_atomic_t top_stop;

static void on_signal(int number)
{
    top_stop = number;
}

static const struct option_row rows[] = {
    OPTION('j', "json", NULL, "print the events of the runs' files as JSON lines", FLAG,
           OPTION_FIELD(struct options, as_json)),
    OPTION('\0', "once", NULL, "print the current progress once and exit", FLAG,
           OPTION_FIELD(struct options, is_once)),
    COMMAND_ROOT(struct options),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster top",
    .summary = "Shows the progress of certifications on this host: their stages and the nodes with "
               "faults. On a terminal the view is refreshed until q or Ctrl-C; otherwise a line "
               "per event is printed until the runs end.",
    .status = "0 done, 2 usage, 3 cannot read the runs' files.",
    .rows = rows,
};

/* ---------------------------------------------------------------- events */

static void keep_line(struct view *view, enum verdict verdict, const char *text)
{
    size_t place = view->line_count++ % LINES_KEPT;

    free(view->lines[place]);
    view->lines[place] = strdup(text);
    view->colours[place] = verdict;
}

/* Sets text to the line of an event, or to "". */
static void event_text(const struct live_event *event, char *text, size_t size)
{
    text[0] = '\0';
    if (event->kind == LIVE_TEXT)
        text_put(text, size, "%s", event->text);
    else if (event->kind == LIVE_END && *event->text)
        text_put(text, size, "  %-12s %5.1f s  %s", event->stage, event->seconds, event->text);
    else if (event->kind == LIVE_NODE)
        text_put(text, size, "    %s  %s  %s: %s", event->node, verdict_name(event->verdict),
                 event->stage, event->text);
}

static void take_event(const struct top *top, struct view *view, const char *line)
{
    struct live_event event;
    char text[600];

    if (live_read(line, &event) != 0)
        return;
    if (event.kind == LIVE_BEGIN || event.kind == LIVE_END) {
        snprintf(view->stage, sizeof view->stage, "%s",
                 event.kind == LIVE_BEGIN ? event.stage : "");
        view->began_s = event.time_s;
        view->doing[0] = '\0';
    } else if (event.kind == LIVE_DOING) {
        snprintf(view->doing, sizeof view->doing, "%s", event.text);
    }
    event_text(&event, text, sizeof text);
    if (*text)
        keep_line(view, event.verdict, text);
    if (top->is_terminal || top->options->is_once)
        return;
    if (top->options->as_json)
        puts(line);
    else if (*text)
        puts(text);
}

static void read_events(const struct top *top, struct view *view)
{
    char bytes[LINE_BYTES], *at;
    /* checked first, so that its last lines are read below */
    bool is_over = !live_is_held(view->fd);
    ssize_t got;

    while ((got = read(view->fd, bytes, sizeof bytes)) > 0)
        for (at = bytes; at < bytes + got; at++)
            if (*at == '\n') {
                view->partial[view->partial_length] = '\0';
                take_event(top, view, view->partial);
                view->partial_length = 0;
            } else if (view->partial_length + 1 < sizeof view->partial) {
                view->partial[view->partial_length++] = *at;
            }
    view->is_over = is_over;
    if (is_over)
        view->stage[0] = '\0';
}

/* ---------------------------------------------------------------- runs */

static bool is_known(const struct top *top, const char *name)
{
    for (size_t i = 0; i < top->count; i++)
        if (strcmp(top->views[i].name, name) == 0)
            return true;
    return false;
}

/* Adds the run of a new file, unless no process holds the file: that run is over. */
static int add_view(struct top *top, int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 || !live_is_held(fd)) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    if (!GROW(top->views, top->count)) {
        close(fd);
        return -1;
    }
    top->views[top->count] = (struct view){.fd = fd};
    snprintf(top->views[top->count++].name, sizeof top->views->name, "%s", name);
    return 0;
}

static void drop_view(struct top *top, size_t i)
{
    close(top->views[i].fd);
    for (size_t k = 0; k < LINES_KEPT; k++)
        free(top->views[i].lines[k]);
    memmove(&top->views[i], &top->views[i + 1], (--top->count - i) * sizeof *top->views);
}

/* Keeps only the last OVER_KEPT of the runs that are over. */
static void drop_old(struct top *top, size_t running)
{
    for (size_t i = 0; top->count > running + OVER_KEPT;)
        if (top->views[i].is_over)
            drop_view(top, i);
        else
            i++;
}

/* Returns 0, or -1 with errno. */
static int find_runs(struct top *top)
{
    DIR *entries = opendir(top->directory);
    struct dirent *entry;
    int rv = 0;

    if (!entries)
        return errno == ENOENT ? 0 : -1; /* ENOENT: no run since the boot */
    while (rv == 0 && (entry = readdir(entries)))
        if (*entry->d_name != '.' && strlen(entry->d_name) < sizeof top->views->name &&
            !is_known(top, entry->d_name))
            rv = add_view(top, dirfd(entries), entry->d_name);
    closedir(entries);
    return rv;
}

/* ---------------------------------------------------------------- what is shown */

/* Prints a line of the view, cut to the terminal's width. */
static void put_line(const struct top *top, int columns, enum verdict verdict, const char *text)
{
    const char *colour = top->has_colour ? table_colour(verdict) : "";
    int length = (int)strlen(text);

    if (!top->is_terminal) {
        printf("%s\n", text);
        return;
    }
    if (length >= columns)
        for (length = columns - 1; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    printf("%s%.*s%s\033[K\n", colour, length, text, *colour ? "\033[0m" : "");
}

/* Prints the newest `most` lines of a run, and its stage below them. */
static void show_view(const struct top *top, const struct view *view, int columns, size_t most)
{
    size_t kept = view->line_count < LINES_KEPT ? view->line_count : LINES_KEPT;
    char text[600];

    for (size_t i = kept > most ? kept - most : 0; i < kept; i++) {
        size_t place = (view->line_count - kept + i) % LINES_KEPT;

        if (view->lines[place])
            put_line(top, columns, view->colours[place], view->lines[place]);
    }
    if (view->is_over) {
        put_line(top, columns, VERDICT_NONE, "  the run is over");
    } else if (*view->stage) {
        text_put(text, sizeof text, "  %-12s %5.1f s  %s", view->stage,
                 clock_epoch_s() - view->began_s, view->doing);
        put_line(top, columns, VERDICT_NONE, text);
    }
}

static void show(const struct top *top)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    char text[160], now[16] = "";
    time_t time_s = time(NULL);
    struct tm fields;
    size_t most = LINES_KEPT, running = 0;

    for (size_t i = 0; i < top->count; i++)
        running += !top->views[i].is_over;
    if (top->is_terminal) {
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        if (size.ws_col < 20 || size.ws_row < 4)
            size = (struct winsize){.ws_row = 24, .ws_col = 80};
        if (localtime_r(&time_s, &fields))
            strftime(now, sizeof now, "%H:%M:%S", &fields);
        most = top->count ? ((size_t)size.ws_row - 2) / top->count : 0;
        most = most > 1 ? most - 1 : 1;
        fputs("\033[H", stdout);
        snprintf(text, sizeof text, "muster top  %s  %zu run%s  (q quits)", now, running,
                 text_plural(running));
        put_line(top, size.ws_col, VERDICT_NONE, text);
    }
    if (top->count == 0)
        put_line(top, size.ws_col, VERDICT_NONE, "no run of muster certify on this host");
    for (size_t i = 0; i < top->count; i++)
        show_view(top, &top->views[i], size.ws_col, most);
    if (top->is_terminal)
        fputs("\033[J", stdout);
    fflush(stdout);
}

/* ---------------------------------------------------------------- the terminal */

static struct termios terminal_before;
static bool has_terminal_before;

/* Switches to the alternate screen without a cursor, and to unbuffered keys. */
static void terminal_begin(void)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &terminal_before) == 0) {
        has_terminal_before = true;
        raw = terminal_before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs("\033[?1049h\033[?25l", stdout);
}

static void terminal_end(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (has_terminal_before)
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

/* Waits until the next update. Returns whether q was pressed. */
static bool wait_for_key(bool has_keys)
{
    struct pollfd keys = {.fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    char key = '\0';

    if (poll(&keys, 1, (int)(1000 * LIVE_EACH_S)) > 0 && read(STDIN_FILENO, &key, 1) == 0)
        poll(NULL, 0, (int)(1000 * LIVE_EACH_S)); /* end of input: no key */
    return key == 'q' || key == 'Q';
}

/* Returns 0 at the end, or -1 with errno. */
static int show_runs(struct top *top)
{
    bool is_more = true, has_keys = top->is_terminal && isatty(STDIN_FILENO);

    while (is_more && !top_stop) {
        size_t running = 0;

        if (find_runs(top) != 0)
            return -1;
        for (size_t i = 0; i < top->count; i++)
            if (!top->views[i].is_over) {
                read_events(top, &top->views[i]);
                running += !top->views[i].is_over;
            }
        drop_old(top, running);
        if (top->is_terminal || top->options->is_once)
            show(top);
        else
            fflush(stdout);
        is_more =
            !top->options->is_once && (top->is_terminal || running > 0) && !wait_for_key(has_keys);
    }
    return 0;
}

int command_top(int argc, char **argv)
{
    struct options options = {0};
    struct top top = {.options = &options};
    int status = command_options(&set, argc, argv, &options), rv;

    if (status >= 0)
        return status;
    if (options.as_json && options.is_once)
        return command_misuse(argv[0], "--json and --once are mutually exclusive");
    if (options.root && access(options.root, F_OK) != 0)
        return command_failed(COMMAND_UNKNOWN, argv[0], "%s: %m", options.root);
    snprintf(top.directory, sizeof top.directory, "%s%s", options.root ? options.root : "",
             LIVE_DIRECTORY);
    top.is_terminal = isatty(STDOUT_FILENO) && !options.as_json && !options.is_once;
    top.has_colour = table_has_colour(stdout);
    signals_catch(on_signal, 0);
    if (top.is_terminal)
        terminal_begin();
    rv = show_runs(&top);
    if (top.is_terminal)
        terminal_end();
    if (rv != 0)
        fprintf(stderr, "%s: %s: %m\n", argv[0], top.directory);
    else if (top.count == 0 && !top.is_terminal && !options.is_once && !options.as_json)
        puts("no run of muster certify on this host");
    while (top.count > 0)
        drop_view(&top, 0);
    free(top.views);
    return rv == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;
}
