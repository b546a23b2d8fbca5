/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/job_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/process.h"

bool job_match_is_confirmed(const struct job_match *matches)
{
    return matches->has_node && matches->has_holder;
}

static void nodes_match(const char *text, struct job_match *matches)
{
    struct hostlist nodes = {0};

    if (text && hostlist_expand(text, &nodes, NULL) == 0) {
        matches->has_node |= hostlist_contains(&nodes, matches->node);
        matches->has_holder |= hostlist_contains(&nodes, matches->holder);
    }
    hostlist_clear(&nodes);
}

static bool is_of(const slurm_job_info_t *info, const struct job_match *matches)
{
    bool is_leader =
        info->het_job_id != 0 && info->het_job_id != NO_VAL && info->het_job_id == matches->job_id;

    return (is_leader || release_job_id(info) == matches->job_id) &&
           info->user_id == matches->uid && info->start_time != 0 &&
           info->start_time <= matches->at + JOB_MATCH_CLOCKS_S &&
           ((info->job_state & JOB_STATE_BASE) < JOB_COMPLETE ||
            info->end_time + JOB_MATCH_CLOCKS_S >= matches->at);
}

/* Returns the time in UTC of "2026-11-25T17:16:01"; `otherwise` if the text is no time, as
 * "Unknown". */
static time_t time_of(const char *text, time_t otherwise)
{
    struct tm parts = {0};

    return strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) ? timegm(&parts) : otherwise;
}

void job_match_parse_line(const char *line, struct job_match *matches, size_t count)
{
    char name[64], begin[32], end[32];
    unsigned job, uid, leader;
    time_t begin_s, end_s;
    int nodes = 0;

    if (sscanf(line, "%63[^|]|%u|%u|%31[^|]|%31[^|]|%n", name, &job, &uid, begin, end, &nodes) !=
            5 ||
        nodes == 0)
        return;
    if (!strchr(name, '+') || sscanf(name, "%u", &leader) != 1)
        leader = job;
    begin_s = time_of(begin, 0);
    for (size_t i = 0; i < count; i++) {
        end_s = time_of(end, matches[i].at);
        if (!job_match_is_confirmed(&matches[i]) &&
            (matches[i].job_id == job || matches[i].job_id == leader) && matches[i].uid == uid &&
            begin_s != 0 && begin_s <= matches[i].at + JOB_MATCH_CLOCKS_S &&
            end_s + JOB_MATCH_CLOCKS_S >= matches[i].at)
            nodes_match(line + nodes, &matches[i]);
    }
}

/* Queries the accounting. A failure means a cluster without accounting. */
static void accounting_query(struct job_match *matches, size_t count)
{
    char *jobs = NULL, *text, *rest, *line;
    size_t size = 0;
    FILE *stream = memory_stream(&jobs, &size);

    if (!stream)
        return;
    fputs("--jobs=", stream);
    for (size_t i = 0, listed = 0; i < count; i++)
        if (!job_match_is_confirmed(&matches[i]))
            fprintf(stream, "%s%u", listed++ > 0 ? "," : "", matches[i].job_id);
    if (fclose(stream) == 0 && size > strlen("--jobs=") &&
        process_output(
            (const char *const[]){"sacct", "--noheader", "--parsable2", "--allocations",
                                  "--allusers",
                                  "--duplicates", /* each run of a job that was requeued */
                                  "--format=JobID,JobIDRaw,UID,Start,End,NodeList", jobs, NULL},
            JOB_MATCH_ACCOUNTING_S, &text, NULL) == 0) {
        for (rest = text; (line = strsep(&rest, "\n"));)
            job_match_parse_line(line, matches, count);
        free(text);
    }
    free(jobs);
}

int job_match_query(struct job_match *matches, size_t count, struct error *err)
{
    job_info_msg_t *found = NULL;

    if (count == 0)
        return 0;
    if (slurm_load_jobs(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its jobs");
    for (uint32_t i = 0; i < found->record_count; i++)
        for (size_t k = 0; k < count; k++)
            if (!job_match_is_confirmed(&matches[k]) && is_of(&found->job_array[i], &matches[k]))
                nodes_match(found->job_array[i].nodes, &matches[k]);
    slurm_free_job_info_msg(found);
    accounting_query(matches, count);
    return 0;
}
