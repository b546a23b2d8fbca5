/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/hang.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/write_all.h"
#include "lib/constants/run_constants.h"
#include "lib/constants/watch_constants.h"
#include "validate/report/records.h"
#include "validate/run/launch.h"
#include "validate/slurm/step/step.h"

/* Takes a finding; one that names a node replaces one that names none. */
static void take_record(const char *line, bool is_error, void *context)
{
    struct hang_note *note = context;
    struct records records = {0};
    const struct record *record;

    if (is_error || records_parse(&records, line) != 0)
        return;
    record = RECORD_AT(&records, 0);
    if (catalog_is_test(record->test, TEST_WATCH) && record->verdict == VERDICT_FAIL &&
        (!note->is_hung || !*note->node)) {
        note->is_hung = true;
        snprintf(note->node, sizeof note->node, "%s", record->node ? record->node : "");
        snprintf(note->text, sizeof note->text, "%s", record->message ? record->message : "");
    }
    records_clear(&records);
}

static void on_end(int number)
{
    launch_stop = number;
}

static void watch(uint32_t job_id, double patience_s, const char *config_path,
                  struct hang_note *note)
{
    struct arguments program = {0};
    struct process_result result = {0};
    struct error err = {"no memory"};

    step_add_muster(&program, "watch", "--json", "--until-hang", "--report", NULL);
    arguments_add(&program, "--patience=%.3f", patience_s);
    if (config_path)
        arguments_add(&program, "--config=%s", config_path);
    arguments_add(&program, "%u", job_id);
    if (program.out_of_memory || process_run(&(struct process){.argv = program.argv,
                                                               .deadline_s = WATCH_MOST_S,
                                                               .grace_s = RUN_PREFLIGHT_GRACE_S,
                                                               .on_line = take_record,
                                                               .context = note,
                                                               .stop = &launch_stop},
                                             &result, &err) != 0)
        snprintf(note->text, sizeof note->text, "%s", err.text);
    else if (!note->is_hung)
        snprintf(note->text, sizeof note->text, "%s",
                 *result.error_line.text ? result.error_line.text : "muster watch ended");
    arguments_clear(&program);
}

int hang_begin(struct hang *hang, uint32_t job_id, double patience_s, const char *config_path,
               struct error *err)
{
    int notes[2];
    pid_t parent = getpid();

    *hang = (struct hang){0};
    if (pipe2(notes, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(err, "cannot watch for a hang: %m");
    hang->pid = fork();
    if (hang->pid == 0) {
        struct hang_note note = {0};

        /* also if the job script ignores SIGTERM */
        sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_end}, NULL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent)
            watch(job_id, patience_s, config_path, &note);
        /* one piece, smaller than PIPE_BUF */
        _exit(write_all(notes[1], &note, sizeof note) != 0);
    }
    close(notes[1]);
    hang->notes = notes[0];
    if (hang->pid > 0)
        return 0;
    close(notes[0]);
    hang->pid = 0;
    return error_set(err, "cannot watch for a hang: %m");
}

bool hang_poll(struct hang *hang, struct hang_note *note)
{
    ssize_t got = -1;

    if (hang->pid > 0 && !hang->is_reported)
        got = read(hang->notes, note, sizeof *note);
    if (got == 0)
        *note = (struct hang_note){.text = "the process that watches it was killed"};
    hang->is_reported |= got >= 0;
    return got >= 0;
}

void hang_end(struct hang *hang)
{
    if (hang->pid <= 0)
        return;
    /* repeated, as the first signal may come before it is handled */
    for (kill(hang->pid, SIGTERM); waitpid(hang->pid, NULL, WNOHANG) == 0; kill(hang->pid, SIGTERM))
        nanosleep(&(struct timespec){.tv_nsec = RUN_TICK_MS * 1000000L}, NULL);
    close(hang->notes);
    hang->pid = 0;
}
