/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/jobs.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/conf/conf.h"
#include "lib/node/job_log.h"
#include "spank/deadline.h"

struct request {
    const char *config_path;
    uint32_t job_id;
    uid_t uid;
    bool is_prolog;
};

static bool read_counters(struct part_counters *counters)
{
    struct inventory *inventory = inventory_read("", NULL);

    part_counters_init(counters, "", (int64_t)clock_s());
    if (inventory == NULL)
        return false;
    memcpy(counters->boot_id, inventory->boot_id, sizeof counters->boot_id);
    counters->boot_id[sizeof counters->boot_id - 1] = '\0';
    part_counters_read("", inventory, counters);
    inventory_free(inventory);
    return true;
}

static void log_ended_job(const struct job_log *log, uint32_t job_id)
{
    struct part_counters then, now;
    uid_t uid;

    if (job_note_read(log, job_id, &uid, &then) == 0 && read_counters(&now))
        (void)job_log_end(log, job_id, uid, &then, &now, (int64_t)clock_epoch_s(), NULL);
}

static void update_log(void *context)
{
    const struct request *request = context;
    struct part_counters counters;
    struct job_log log;
    struct conf conf;

    /* without this directory, muster was not installed to keep state on this node */
    if (access(MUSTER_LOCALSTATEDIR "/lib/muster", F_OK) != 0)
        return;
    if (conf_read(request->config_path, &conf, NULL) == 0 &&
        job_log_open(&log, conf.certificate_path) == 0) {
        if (!request->is_prolog)
            log_ended_job(&log, request->job_id);
        else if (read_counters(&counters))
            (void)job_note_write(&log, request->job_id, request->uid, &counters, NULL);
    }
}

static void update_log_with_deadline(struct request request)
{
    deadline_try(JOBS_DEADLINE_MS, update_log, &request);
}

void jobs_prolog(const char *config_path, uint32_t job_id, uid_t uid)
{
    update_log_with_deadline((struct request){config_path, job_id, uid, true});
}

void jobs_epilog(const char *config_path, uint32_t job_id)
{
    static const struct job_log log = {.notes = JOB_NOTES};

    update_log_with_deadline((struct request){config_path, job_id, 0, false});
    job_note_remove(&log, job_id); /* no child is needed: notes are in memory, not on a disk */
}
