/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/health.h"

#include <string.h>
#include <time.h>

#include "lib/certificate/certificate.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/validate/command/made_controller.h"
#include "validate/checks/checks.h"
#include "validate/command/node/self_drain.h"
#include "validate/health/log_file.h"
#include "validate/health/onset.h"
#include "validate/health/unreviewed.h"

/* Tests what muster check does with the certificate of a node that it drained. The controller
 * and the files of /run/muster are made up. */

static bool is_unreviewed, has_onset;
static int removals, onsets, self_drains;
static time_t drained_since;

bool self_drain(const char *node, const char *why, time_t since, const struct conf *conf,
                const char *path, char *text, size_t size)
{
    drained_since = since;
    self_drains++;
    *text = '\0';
    return true;
}

bool unreviewed_read(const char *path, struct unreviewed *drain)
{
    *drain = (struct unreviewed){.drained = 200};
    return is_unreviewed;
}

long long onset_update(const char *path, const char *fault, long long now_s)
{
    onsets++;
    return now_s - 100;
}

bool onset_read_test(const char *path, char test[32])
{
    strcpy(test, "net.links");
    return has_onset;
}

int check_is_wanted(const struct check *check, const char *only)
{
    return !only || strcmp(check->name, only) == 0;
}

void log_file_mark_drained(const struct conf *conf)
{
}

time_t certificate_issued(const char *path, const char *boot_id)
{
    return 100;
}

int certificate_remove(const char *path, time_t until, struct error *err)
{
    removals += until == 100; /* that which was read, and no later one */
    return 0;
}

/* Runs a health check and discards its output. Returns how often the certificate was removed. */
static int count_removals(bool drains)
{
    const struct conf conf = {.health_drain = drains};
    const struct health_summary summary = {0};

    removals = 0;
    capture_begin();
    health_run(&summary, "n1", &conf);
    capture_end(1);
    return removals;
}

/* Runs a health check of these tests, without a fault. Returns whether it ended that of an earlier
 * check. */
static bool ends_fault(const char *only)
{
    const struct conf conf = {.health_drain = true};
    const struct health_summary summary = {.only = only};

    onsets = self_drains = 0;
    capture_begin();
    health_run(&summary, "n1", &conf);
    capture_end(1);
    return onsets == 1 && self_drains == 1;
}

static void tests_that_would_find_a_fault_end_it(void)
{
    struct health_summary summary = {.only = "net.links"};

    health_take(&summary, &(struct record){.test = "net.links",
                                           .verdict = VERDICT_FAIL,
                                           .code = FAULT_LINK_DOWN,
                                           .part = "eth1"});
    is_str(summary.fault, "net.links link_down eth1", "a fault is noted with its test");
    has_onset = true;
    ok(ends_fault(NULL), "a check of all tests ends a fault that it does not find");
    ok(ends_fault("net.links"), "... and so does a check of the test that found it");
    ok(!ends_fault("host.clock"), "... not one of another test");
    is_int(onsets, 0, "... which leaves its onset");
    is_int(self_drains, 0, "... and what was published");
    is_unreviewed = true;
    ok(!ends_fault("host.clock"), "... nor if a drain is to be reviewed");
    is_int(self_drains, 1, "... which it does");
    is_unreviewed = has_onset = false;
    ok(ends_fault("host.clock"), "without an onset any check withdraws what is still published");
}

int main(void)
{
    controller_make(1);
    controller_put(0, "muster: link_down eth1 has no carrier 2026-11-20", 200);
    snprintf(controller.nodes[0].extra, CONTROLLER_TEXT, "%s",
             "{\"rack\":7,\"muster_level\":2,\"muster_expires\":1795794800}");
    is_int(count_removals(true), 1, "a drain that stays removes the certificate");
    is_str(controller.nodes[0].extra, "{\"rack\":7}", "... also from the node's Extra");
    is_near((double)drained_since, (double)time(NULL) - 100, 2, "... since the time of its fault");
    is_unreviewed = true;
    snprintf(controller.nodes[0].extra, CONTROLLER_TEXT, "%s", "{ \"muster_level\": 2 }");
    is_int(count_removals(true), 0, "a drain that may be taken back keeps it");
    is_str(controller.nodes[0].extra, "{ \"muster_level\": 2 }", "... and leaves Extra alone");
    is_int(count_removals(false), 1, "... unless drains are not reviewed any more");
    is_unreviewed = false;
    controller_put(0, "muster: gate_refused - certificate expired 2026-11-20", 200);
    is_int(count_removals(true), 0, "a drain by the gate keeps the certificate that it refuses");
    tests_that_would_find_a_fault_end_it();
    return tap_done();
}
