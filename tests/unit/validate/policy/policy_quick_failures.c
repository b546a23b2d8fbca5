/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "tests/unit/tap.h"
#include "validate/policy/quick_failures.h"

#include <string.h>

static struct ended_job jobs[64];
static size_t count;
static char found[256];

static void add_jobs(unsigned uid, const char *nodes, int times, bool has_failed)
{
    struct error err;

    for (int i = 0; i < times; i++) {
        jobs[count].uid = uid;
        jobs[count].has_failed_early = has_failed;
        hostlist_expand(nodes, &jobs[count++].nodes, &err);
    }
}

static void add_finding(const char *node, const char *text, void *context)
{
    text_join(found, sizeof found, "", "%s: %s;", node, text);
}

/* Returns what is found about the added jobs, and forgets the jobs. */
static const char *find_quick_failures(void)
{
    *found = '\0';
    if (quick_failures_find(jobs, count, add_finding, NULL) < 0)
        return "no memory";
    while (count > 0)
        hostlist_clear(&jobs[--count].nodes);
    return found;
}

int main(void)
{
    is_str(find_quick_failures(), "", "no jobs");
    add_jobs(1, "n1", 6, false);
    add_jobs(2, "n[1,3]", 6, false);
    for (int i = 0; i < 3; i++) {
        add_jobs(1, "n2", 1, true);
        add_jobs(2, "n2", 1, true);
    }
    is_str(find_quick_failures(),
           "n2: 6 of 6 jobs there failed within 60 s, of 2 users; expected 0.8, from these users' "
           "jobs on other nodes;",
           "jobs of two users fail soon on one node");
    add_jobs(1, "n1", 6, false);
    add_jobs(2, "n1", 6, false);
    add_jobs(1, "n2", 6, true);
    is_str(find_quick_failures(), "", "... of one user only: the cause may be that user's jobs");
    add_jobs(1, "n1", 6, false);
    add_jobs(2, "n1", 6, false);
    add_jobs(2, "n2", 1, false);
    add_jobs(1, "n2", 6, true);
    is_str(find_quick_failures(), "", "... also where others' jobs do not fail");
    for (int failed = SUSPECTS_QUICK_JOBS - 1; failed <= SUSPECTS_QUICK_JOBS; failed++) {
        add_jobs(1, "n1", 20, false);
        add_jobs(2, "n1", 20, false);
        add_jobs(1, "n2", 2, true);
        add_jobs(2, "n2", failed - 2, true);
        is_int(*find_quick_failures() != '\0', failed == SUSPECTS_QUICK_JOBS,
               "%d jobs that fail soon on one node", failed);
    }
    add_jobs(1, "n[1,3]", 6, true);
    add_jobs(2, "n[1,3]", 6, true);
    add_jobs(1, "n2", 6, true);
    add_jobs(2, "n2", 6, true);
    is_str(find_quick_failures(), "", "jobs that fail soon on all nodes");
    add_jobs(1, "n2", 2, true);
    add_jobs(2, "n2", 2, true);
    is_str(find_quick_failures(), "", "jobs that ran on one node only");
    add_jobs(1, "n1", 6, false);
    add_jobs(2, "n1", 6, false);
    add_jobs(1, "n2", 3, true);
    add_jobs(2, "n2", 3, true);
    add_jobs(1, "n2", 20, false);
    add_jobs(2, "n2", 20, false);
    is_str(find_quick_failures(), "", "few failures among many jobs");
    add_jobs(1, "n1", 9, false);
    add_jobs(2, "n1", 9, false);
    add_jobs(1, "n[2-3]", 3, true);
    add_jobs(2, "n[2-3]", 3, true);
    ok(strstr(find_quick_failures(), "n2: 6 of 6") && strstr(found, "n3: 6 of 6"),
       "jobs with several nodes count for each node");
    return tap_done();
}
