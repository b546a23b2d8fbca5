/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/output.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/stdout_flush.h"

static struct {
    const char *program, *suite, *run;
    bool json, is_terminal, has_listener;
    pthread_mutex_t lock;
    bool is_claimed;
    pthread_t owner;
    bool has_header, has_progress;
    unsigned counts[VERDICT_FAIL + 1];
} output = {.lock = PTHREAD_MUTEX_INITIALIZER};

void output_start(const char *program, const char *suite, bool json)
{
    output.program = program;
    output.suite = suite;
    output.run = getenv("MUSTER_RUN") ? getenv("MUSTER_RUN") : "";
    output.json = json;
    output.is_terminal = isatty(STDERR_FILENO);
    output.has_listener = !output.is_terminal && getenv("MUSTER_PROGRESS");
}

void output_suite(const char *suite)
{
    output.suite = suite;
}

/* Returns false after one second: the thread that ends the job must not wait for a thread that
 * hangs while it prints. False also for other threads after output_claim(). */
static bool lock(void)
{
    double until_s = clock_s() + 1;

    while (pthread_mutex_trylock(&output.lock) != 0) {
        if (clock_s() > until_s)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (output.is_claimed && !pthread_equal(output.owner, pthread_self())) {
        pthread_mutex_unlock(&output.lock);
        return false;
    }
    return true;
}

static void clear_progress(void)
{
    if (output.has_progress)
        fputs("\r\033[K", stderr);
    output.has_progress = false;
}

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

/* Formats the value with four digits; counts, bytes and values from 1000 on with all digits. */
static void format_value(const struct record *record, char *text, size_t size)
{
    const char *unit = record->unit ? record->unit : "";

    if (!isfinite(record->value))
        snprintf(text, size, "-");
    else if (strcmp(unit, "count") == 0 || strcmp(unit, "bytes") == 0 ||
             fabs(record->value) >= 1000)
        snprintf(text, size, "%.0f %s", record->value, unit);
    else
        snprintf(text, size, "%.4g %s", record->value, unit);
}

static void print_row(const struct record *record)
{
    char value[48], spread[64] = "";
    const char *message = record->message ? record->message : "";

    if (!output.has_header) {
        printf("%-7s %-19s %-19s %-8s %-18s %-8s %14s\n", "VERDICT", "TEST", "METRIC", "NODE",
               "PART", "PEER", "VALUE");
        output.has_header = true;
    }
    format_value(record, value, sizeof value);
    if (isfinite(record->low) && isfinite(record->high))
        snprintf(spread, sizeof spread, "  %.4g to %.4g", record->low, record->high);
    printf("%-7s %-19s %-19s %-8s %-18s %-8s %14s%s%s%s\n",
           record->verdict == VERDICT_NONE ? "-" : verdict_name(record->verdict),
           or_dash(record->test), or_dash(record->metric), or_dash(record->node),
           or_dash(record->part), or_dash(record->peer), value, spread, *message ? "  " : "",
           message);
    fflush(stdout);
}

/* The variable is read at the start: while MPI_Init sets others, no thread may read one. */
static int write_json(struct record *record)
{
    record->suite = output.suite;
    record->run = output.run;
    return record_write(stdout, record);
}

void output_record(struct record *record)
{
    if (!lock())
        return;
    clear_progress();
    output.counts[record->verdict]++;
    if (!output.json)
        print_row(record);
    else if (write_json(record) != 0)
        output.counts[VERDICT_UNKNOWN]++; /* the lost record may be a failure */
    pthread_mutex_unlock(&output.lock);
}

static void take_record(struct record *record, void *context)
{
    (void)context;
    output_record(record);
}

const struct record_sink output_sink = {take_record, NULL};

void output_progress(const char *format, ...)
{
    va_list arguments;

    if (!(output.is_terminal || output.has_listener) || !lock())
        return;
    clear_progress();
    va_start(arguments, format);
    fprintf(stderr, "%s%s", output.has_listener ? RECORD_PROGRESS : output.program,
            output.has_listener ? "" : ": ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (output.has_listener)
        fputc('\n', stderr);
    output.has_progress = output.is_terminal;
    fflush(stderr);
    pthread_mutex_unlock(&output.lock);
}

void output_claim(void)
{
    bool is_locked = lock();

    output.owner = pthread_self();
    output.is_claimed = true;
    if (is_locked)
        pthread_mutex_unlock(&output.lock);
}

/* With this record the parent knows the exit status and need not wait for the launcher. */
static void print_end(void)
{
    struct record record =
        RECORD(.test = "mpi.launch", .metric = "end", .value = output_status(), .unit = "1");

    write_json(&record);
}

void output_finish(void)
{
    unsigned total = 0;

    if (!lock())
        return;
    clear_progress();
    for (int i = 0; i <= VERDICT_FAIL; i++)
        total += output.counts[i];
    if (output.json)
        print_end();
    else
        printf("%s: %u records, %u failed, %u unknown\n", output.program, total,
               output.counts[VERDICT_FAIL], output.counts[VERDICT_UNKNOWN]);
    stdout_flush(output.program);
    fflush(stderr);
    pthread_mutex_unlock(&output.lock);
}

int output_status(void)
{
    if (output.counts[VERDICT_FAIL] > 0)
        return 1;
    return output.counts[VERDICT_UNKNOWN] > 0 || ferror(stdout) ? 3 : 0;
}
