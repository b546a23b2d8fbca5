/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/read_all.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/watch/read.h"

/* ---------------------------------------------------------------- a job */

enum { NODES = 4, RAILS = 2 };

/* What each node does per second. Each node has one rank, whose number and PID follow the node's
 * index. */
static struct node {
    char state;
    double cpu, queued, io_MB;
    double mbps[RAILS];
    double losses, errors, unread;
    double flow_mbps[RAILS]; /* of what it sends to the next node; 0: not limited by the network */
    double far_mbps;         /* of what it sends on eth1 to the node after that */
    bool is_silent, has_none, is_partial, is_unread;
} nodes[NODES];

static int used;  /* the job has the first `used` nodes */
static long step; /* step of the ranks */
static struct watch watch;
static struct watch_verdict verdict;
static struct hostlist names;
static double now_s, interval_s = 2;
static struct watch_sample samples[NODES];

#define set_each(assignment)                                                                       \
    for (int i = 0; i < NODES; i++)                                                                \
    nodes[i].assignment

static void set_healthy(void)
{
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct node){
            .state = 'R', .cpu = 1, .mbps = {100, 100}, .flow_mbps = {190, 180}, .far_mbps = 170};
}

static void set_no_data(void)
{
    set_each(mbps[0] = nodes[i].mbps[1] = 0);
}

static void job_begin_on(const char *list)
{
    watch_clear(&watch);
    hostlist_clear(&names);
    hostlist_expand(list, &names, NULL);
    used = (int)names.count;
    step = 0;
    now_s = 1000;
    memset(samples, 0, sizeof samples);
    watch_make(&watch, &names, interval_s, 30, now_s);
    set_healthy();
}

/* Returns the node's current sample. */
static struct watch_sample sample_make(int i)
{
    struct watch_sample sample = {.time_s = 5000 * i + now_s};
    struct watch_rank *rank = calloc(1, sizeof *rank);
    struct watch_rail *rails = calloc(RAILS, sizeof *rails);
    struct watch_flow *flows = calloc(RAILS + 1, sizeof *flows);
    static struct watch_rank ranks[NODES];
    static struct watch_rail sums[NODES][RAILS];

    if (samples[i].time_s == 0) {
        ranks[i] = (struct watch_rank){.rank = i, .pid = 100 + i};
        memset(sums[i], 0, sizeof sums[i]);
    }
    samples[i].time_s = now_s;
    ranks[i].step = step;
    ranks[i].state = nodes[i].state;
    ranks[i].cpu_s += interval_s * nodes[i].cpu;
    ranks[i].queued_s += interval_s * nodes[i].queued;
    ranks[i].io_bytes += interval_s * 1e6 * nodes[i].io_MB;
    *rank = ranks[i];
    for (int k = 0; k < RAILS; k++) {
        snprintf(sums[i][k].name, sizeof sums[i][k].name, "eth%d", k + 1);
        sums[i][k].sent_bytes += interval_s * nodes[i].mbps[k] / 16e-6;
        sums[i][k].received_bytes += interval_s * nodes[i].mbps[k] / 16e-6;
        sums[i][k].losses += nodes[i].losses;
        sums[i][k].errors += interval_s * nodes[i].errors;
        snprintf(sums[i][k].address, sizeof sums[i][k].address, "10.0.%d.%d", k, i);
        sums[i][k].is_partial = nodes[i].is_partial;
        rails[k] = sums[i][k];
        if (nodes[i].is_unread) {
            rails[k].losses = rails[k].errors = NAN;
            rails[k].sent_bytes = rails[k].received_bytes = NAN;
            rails[k].is_partial = true;
        }
        flows[k] =
            (struct watch_flow){.bytes = sums[i][k].sent_bytes, .mbps = nodes[i].flow_mbps[k]};
        strcpy(flows[k].rail, rails[k].name);
        snprintf(flows[k].peer, sizeof flows[k].peer, "10.0.%d.%d", k, (i + 1) % NODES);
    }
    sample.flows = flows;
    flows[RAILS] = flows[0];
    flows[RAILS].mbps = nodes[i].far_mbps;
    snprintf(flows[RAILS].peer, sizeof flows[RAILS].peer, "10.0.0.%d", (i + 2) % NODES);
    sample.flow_count = RAILS + 1;
    sample.unread_bytes = nodes[i].unread;
    sample.ranks = rank;
    sample.rank_count = !nodes[i].has_none;
    sample.rails = rails;
    sample.rail_count = RAILS;
    return sample;
}

/* Continues for this time, then judges. */
static void watch_for(double seconds)
{
    for (double end_s = now_s + seconds; now_s < end_s;) {
        now_s += interval_s;
        for (int i = 0; i < used; i++) {
            struct watch_sample sample = sample_make(i);

            if (nodes[i].is_silent)
                watch_sample_clear(&sample);
            else
                watch_add(&watch, (size_t)i, &sample, now_s);
        }
    }
    watch_judge(&watch, now_s, &verdict);
}

#define finds_after(seconds, ...) (watch_for(seconds), is_str(finding_text(), __VA_ARGS__))

/* Begins a job of four nodes that runs well for this time. */
static void job_begin(double seconds)
{
    job_begin_on("n[1-4]");
    watch_for(seconds);
}

/* Returns the first of the worst findings: "fail job_hung n3 rank 2"; the verdict, such as
 * "pass", without one. */
static const char *finding_text(void)
{
    static char text[256];
    const struct watch_finding *finding = verdict.findings;

    for (size_t i = 0; i < verdict.count; i++)
        if (verdict.findings[i].verdict == verdict.verdict) {
            finding = &verdict.findings[i];
            break;
        }
    if (verdict.count == 0)
        return verdict_name(verdict.verdict);
    snprintf(text, sizeof text, "%s %s%s%s%s%s", verdict_name(finding->verdict),
             catalog_fault(finding->code)->name, finding->node ? " " : "",
             finding->node ? finding->node : "", *finding->part ? " " : "", finding->part);
    return text;
}

static void test_running_jobs(void)
{
    job_begin(2);
    is_str(finding_text(), "unknown not_measured", "after one sample nothing is known");
    ok(!verdict.is_settled, "... and the verdict may change");
    finds_after(14, "pass", "all ranks work and all rails carry data: pass");
    ok(!verdict.is_settled, "... but the rates of connections are not known yet");
    finds_after(16, "pass", "... nor is anything found when they are");
    ok(verdict.is_settled, "... with certainty");
    interval_s = 4;
    job_begin(60);
    ok(!verdict.is_settled, "... which takes longer at a longer interval");
    watch_for(4);
    ok(verdict.is_settled, "... but no longer than 16 samples");
    job_begin(52);
    set_no_data();
    finds_after(28, "unknown not_measured", "a pause before that is no hang");
    ok(!verdict.is_settled, "... but may become one");
    finds_after(4, "fail job_hung", "... as it does");
    ok(verdict.is_settled, "... with certainty");
    interval_s = 2;
    job_begin(32);
    set_no_data();
    finds_after(20, "unknown not_measured", "a pause is no hang");
    set_healthy();
    watch_for(20);
    set_no_data();
    finds_after(44, "unknown not_measured", "... nor is a pause twice as long as the last one");
    set_healthy();
    set_each(cpu = 0.6);
    set_each(queued = 0.4);
    finds_after(20, "pass", "a job that continues on busy machines passes");
    nodes[2].cpu = 0;
    finds_after(20, "pass", "... and no node is named for a lack of processor time");
}

static void test_hangs(void)
{
    job_begin(20);
    set_no_data();
    finds_after(28, "unknown not_measured", "without data it may be a pause");
    finds_after(8, "fail job_hung", "... or later a hang; ranks that poll cannot be distinguished");
    ok(verdict.is_settled, "... with certainty");
    nodes[2].cpu = 0;
    finds_after(14, "fail job_hung n3 rank 2", "a rank that sleeps while all others poll is named");
    nodes[2].io_MB = 10;
    finds_after(14, "warn rank_straggles n3 rank 2", "... and is no hang while it writes files");

    job_begin(20);
    set_no_data();
    set_each(cpu = i == 1);
    finds_after(40, "fail job_hung n2 rank 1", "a rank that works while all others sleep is named");
    set_each(queued = 0.5);
    finds_after(14, "unknown process_slow", "... on busy machines no rank is");
    set_each(cpu = i == 1 ? 0.2 : 0.01);
    set_each(queued = i == 1 ? 0.7 : 0.1);
    finds_after(14, "warn rank_straggles n2 rank 1",
                "... but one that works there while all others sleep holds them up");
    has_str(verdict.line, "waits for processors", "... or the machine does");
    nodes[1].cpu = 0.02;
    finds_after(14, "unknown process_slow",
                "... not one that hardly uses the processor it waits for");
    set_each(cpu = 0.05);
    set_each(queued = 0.9);
    finds_after(14, "unknown process_slow", "... nor is it a hang if all ranks get that little");
    set_each(queued = 0.3);
    finds_after(14, "fail job_hung", "... but it is if they sleep for most of their time");

    job_begin(0);
    set_no_data();
    finds_after(60, "unknown not_measured", "without data from the beginning the job may compute");
    set_each(cpu = 0);
    finds_after(14, "fail job_hung", "... but not without processor time");

    job_begin(20);
    nodes[3].mbps[0] = nodes[3].mbps[1] = 0;
    watch_for(8);
    set_no_data();
    finds_after(40, "fail job_hung n4", "the node whose data stopped first is named");
}

/* These rails do not count RDMA bytes. */
static void test_uncounted_bytes(void)
{
    job_begin(0);
    set_each(is_partial = true);
    finds_after(20, "pass", "other data of such rails counts as data");
    set_no_data();
    finds_after(100, "unknown not_measured", "... without it no hang is found");
    has_str(verdict.line, "do not count bytes", "... with the reason");
    for (int i = 0; i < NODES; i++)
        nodes[i].mbps[0] = i == 1 ? 0 : 100;
    finds_after(60, "pass", "... and no node is named as the one without data");
}

static void test_stopped_ranks(void)
{
    job_begin(20);
    nodes[2].state = 'T';
    finds_after(4, "pass", "a rank that stops for a moment is no fault");
    set_no_data();
    finds_after(4, "fail rank_hung n3 rank 2", "a rank that is stopped while nothing moves is");
    set_each(state = 'T');
    finds_after(8, "unknown many_alike", "a suspended job has no faulty rank");

    job_begin(20);
    set_no_data();
    nodes[1].state = 'D';
    nodes[1].cpu = 0;
    finds_after(20, "unknown not_measured", "a rank may wait for a file system");
    finds_after(20, "fail task_hung n2 rank 1", "... but not forever");

    job_begin(20);
    nodes[0].has_none = true;
    finds_after(8, "pass", "a rank may end before the others");
    set_no_data();
    finds_after(40, "fail rank_hung n1 rank 0", "... but they must not wait for it");
    nodes[1].has_none = nodes[2].has_none = nodes[3].has_none = true;
    finds_after(8, "unknown many_alike", "the end of a job is no rank's fault");

    job_begin(20);
    nodes[2].is_silent = true;
    finds_after(20, "unknown node_unreachable n3",
                "a node without samples is named, but does not fail");
    nodes[0].is_silent = nodes[1].is_silent = true;
    finds_after(20, "unknown many_alike", "... most nodes without samples are not named");

    job_begin(20);
    nodes[2].is_silent = true;
    set_no_data();
    finds_after(8, "unknown not_measured", "a job is not known to go on once samples are overdue");
    ok(!verdict.is_settled, "... and the verdict may change");
    nodes[2].is_silent = false;
    nodes[2].mbps[0] = 100;
    finds_after(4, "pass", "... but it does when they come");
    nodes[2].is_silent = true;
    watch_for(120);
    for (size_t i = 0; i < verdict.count; i++)
        ok(!verdict.findings[i].node || strcmp(verdict.findings[i].node, "n3") == 0,
           "nodes that wait for a frozen one are not named: %s", verdict.findings[i].message);
    is_str(finding_text(), "fail job_hung n3",
           "... but the frozen one is, as data stopped with it");
    has_str(verdict.line, "sends no samples", "... with the reason");
    is_str(watch_holder(&watch, "n3"), "n1", "... and another node keeps the report about it");
    is_str(watch_holder(&watch, "n2"), "n2", "a node with samples keeps its own");
    set_each(is_silent = true);
    watch_for(40);
    ok(!watch_holder(&watch, "n3"), "... no node does if none sends samples");

    for (int is_before = 0; is_before <= 1; is_before++) {
        job_begin(20);
        set_each(mbps[0] = nodes[i].mbps[1] = is_before ? 100 : 0);
        nodes[2].is_silent = is_before;
        watch_for(24);
        nodes[2].is_silent = true;
        set_no_data();
        finds_after(40, "fail job_hung", "a node without samples %s data stopped is not named",
                    is_before ? "long before" : "since long after");
        has_str(verdict.line, "sends no samples", "... only that there is one");
    }

    job_begin(20);
    nodes[2].is_silent = nodes[3].is_silent = true;
    set_no_data();
    finds_after(50, "fail job_hung", "nor are two nodes without samples");

    for (int ends = 0; ends <= 1; ends++) {
        job_begin(20);
        nodes[0].is_silent = true;
        set_no_data();
        nodes[1].has_none = ends;
        nodes[1].state = 'D';
        nodes[1].cpu = 0;
        finds_after(50, "fail job_hung n1",
                    "a rank that waits for a file or has ended does not hide a hang beside a node "
                    "without samples");
        for (size_t i = 0; i < verdict.count; i++)
            ok(!verdict.findings[i].node || strcmp(verdict.findings[i].node, "n1") == 0,
               "... and is not blamed: %s", verdict.findings[i].message);
    }

    job_begin(0);
    nodes[0].is_silent = true;
    watch_for(20);
    set_no_data();
    finds_after(40, "fail job_hung", "a node that never sent a sample does not hide a hang");

    job_begin(0);
    nodes[0].is_silent = true;
    set_no_data();
    set_each(cpu = 0);
    finds_after(60, "unknown node_unreachable n1", "... but it may compute");
}

/* Without data many states cannot be distinguished. */
static void test_without_data(void)
{
    job_begin(0);
    set_no_data();
    watch_for(20);
    nodes[0].has_none = true;
    finds_after(60, "unknown not_measured", "a rank may end before others that never sent it data");
    nodes[0].has_none = false;
    nodes[0].state = 'D';
    nodes[0].cpu = 0;
    finds_after(60, "unknown not_measured", "... or wait for a file");

    job_begin_on("n1");
    set_no_data();
    nodes[0].cpu = 0;
    finds_after(60, "unknown not_measured", "one node has no rails that show a hang");
    has_str(verdict.line, "one node", "... with the reason");
    nodes[0].state = 'T';
    finds_after(20, "warn rank_hung n1 rank 0", "... but a stopped rank is reported");

    job_begin_on("n1");
    watch_for(20);
    set_no_data();
    nodes[0].state = 'D';
    nodes[0].cpu = 0;
    finds_after(60, "unknown not_measured", "other data of its rails is not the job's");
}

/* Slurm suspends a job and resumes it. The samplers in the job are suspended, too. */
static void test_suspended_jobs(void)
{
    job_begin(20);
    now_s += 3600;
    finds_after(2, "unknown not_measured", "a job that was suspended has not hung");
    finds_after(20, "pass", "... and continues");
    set_no_data();
    finds_after(36, "fail job_hung", "... and the suspension does not count as a pause");

    job_begin(20);
    set_no_data();
    watch_for(20);
    now_s += 3600;
    finds_after(2, "unknown not_measured", "nor has a job suspended during a pause");
    finds_after(16, "fail job_hung", "... but the rest of the pause counts");

    job_begin(20);
    nodes[2].state = 'T';
    watch_for(2);
    now_s += 3600;
    finds_after(2, "unknown not_measured", "a rank resumed last was not stopped for that long");
}

/* As in `muster run --hang`, which ends the job. */
static void test_patient_watch(void)
{
    job_begin(0);
    watch.is_patient = true;
    watch_for(20);
    set_no_data();
    nodes[2].state = 'T';
    finds_after(20, "warn rank_hung n3 rank 2",
                "--hang is patient with a rank stopped by a debugger");
    finds_after(16, "fail rank_hung n3 rank 2", "... but no longer than with other hangs");
}

static void test_ended_ranks(void)
{
    job_begin(20);
    nodes[0].has_none = true;
    set_no_data();
    finds_after(200, "fail rank_hung n1 rank 0", "a rank that ended when data stopped is named");
    has_str(verdict.line, "pid 100", "... with its process");

    job_begin(20);
    nodes[0].has_none = true;
    nodes[0].mbps[0] = nodes[0].mbps[1] = 0;
    finds_after(200, "pass", "a rank that ends before the others is no fault of its node");
    nodes[2].mbps[0] = nodes[2].mbps[1] = 0;
    watch_for(8);
    set_no_data();
    finds_after(150, "fail job_hung n3",
                "... not one that ended long before: the first silent node is");

    interval_s = 30;
    job_begin(120);
    nodes[0].has_none = true;
    watch_for(30); /* it ends within the last interval with data */
    set_no_data();
    finds_after(150, "fail rank_hung n1 rank 0", "... also with a long interval between samples");
    interval_s = 2;

    job_begin(0);
    set_each(has_none = true);
    watch_for(6);
    set_healthy();
    watch_for(20);
    nodes[0].has_none = true;
    set_no_data();
    finds_after(40, "fail rank_hung n1 rank 0", "... also one that began after the watch");

    job_begin(20);
    nodes[0].has_none = true;
    step = 1;
    watch_for(20);
    set_no_data();
    finds_after(40, "fail job_hung", "... not one of an earlier step");

    job_begin(20);
    nodes[0].has_none = nodes[1].has_none = nodes[2].has_none = true;
    watch_for(200);
    set_no_data();
    finds_after(40, "fail job_hung", "... nor several that ended before the last");

    job_begin(20);
    nodes[0].has_none = nodes[1].has_none = true;
    watch_for(60);
    nodes[2].has_none = true;
    set_no_data();
    finds_after(40, "fail rank_hung n3 rank 2", "... which do not hide the one that ended last");
}

static void test_unread_data(void)
{
    job_begin(0);
    set_each(cpu = nodes[i].queued = 0.4);
    nodes[0].unread = 40;
    watch_for(20);
    set_no_data();
    nodes[2].unread = 80;
    finds_after(40, "fail job_hung n3 rank 2",
                "a rank that does not read its data is named, also on busy machines");
    has_str(verdict.line, "80 bytes", "... with the bytes, and not a rank that never reads all");
    nodes[1].unread = nodes[3].unread = 1;
    finds_after(14, "unknown process_slow", "... if most nodes have unread data none is");
}

static char *fixture_text(const char *directory, const char *name)
{
    const char *source = getenv("top_srcdir");
    char path[4096];
    FILE *stream;
    char *text;
    struct error err;

    snprintf(path, sizeof path, "%s/tests/fixtures/%s/%s", source ? source : ".", directory, name);
    stream = fopen(path, "re");
    if (!stream)
        return strdup("");
    text = read_to_end(fileno(stream), 1 << 20, &err);
    fclose(stream);
    return text ? text : strdup("");
}

/* Judges recorded samples after each round, and returns the first finding, else the verdict. */
static const char *first_finding(const char *name)
{
    struct watch_sample sample;
    char *text = fixture_text("watch", name), *rest = NULL;

    job_begin_on("n[1-4]");
    verdict = (struct watch_verdict){0};
    now_s = INFINITY;
    for (char *line = strtok_r(text, "\n", &rest);
         verdict.count == 0 && line && watch_sample_parse(line, &sample) == 0;
         line = strtok_r(NULL, "\n", &rest)) {
        if (sample.time_s > now_s + interval_s / 2 && watch.nodes[0].count > 5)
            watch_judge(&watch, now_s, &verdict);
        now_s = sample.time_s;
        watch_add(&watch, (size_t)(sample.node[1] - '1'), &sample, now_s);
    }
    free(text);
    return finding_text();
}

static void test_recorded_jobs(void)
{
    is_str(first_finding("busy"), "pass", "no good path of a busy machine is named");
    is_str(first_finding("slow-rail"), "warn rail_straggles n1 eth1",
           "a slow rail that most connections share is named first, and not one end of a path");
}

static void test_connections(void)
{
    job_begin(0);
    nodes[2].flow_mbps[1] = nodes[1].flow_mbps[1] = 45;
    finds_after(14, "pass", "a few rates are no measurement");
    finds_after(8, "warn rail_straggles n3 eth2",
                "a rail with slow connections in and out is named");
    nodes[2].queued = 0.5;
    finds_after(20, "unknown rail_straggles n3 eth2", "... on a busy node it is unknown");
    nodes[2].queued = 0;
    nodes[3].queued = 0.5;
    finds_after(20, "warn rail_straggles n3 eth2", "... but not if another node is busy");
    set_healthy();
    finds_after(4, "pass", "... and not after that");
    nodes[2].flow_mbps[1] = 45;
    finds_after(56, "pass", "a connection that has been slow for less than two windows is not");
    finds_after(6, "warn rail_straggles n3 eth2", "a rail with one slow connection is named");
    has_str(verdict.line, "it may be the path to n4", "... with the path as another explanation");
    interval_s = 0.5;
    job_begin(20);
    nodes[2].flow_mbps[1] = 45;
    finds_after(56, "pass", "... nor is it at the shortest interval");
    finds_after(6, "warn rail_straggles n3 eth2", "... until the same time has passed");
    interval_s = 2;
    job_begin(20);
    set_each(flow_mbps[0] = nodes[i].flow_mbps[1] = nodes[i].far_mbps = 45);
    finds_after(62, "pass", "equally slow connections are no rail's fault");
    set_healthy();
    nodes[0].far_mbps = nodes[1].far_mbps = 45;
    finds_after(62, "pass", "nor are slow connections without a common end");
    set_healthy();
    nodes[0].flow_mbps[0] = 95;
    nodes[0].far_mbps = 80;
    finds_after(62, "pass", "nor is a path slow whose connection shares a rail with another");
    nodes[0].flow_mbps[0] = 190;
    nodes[0].far_mbps = 45;
    finds_after(62, "warn rail_straggles n1 eth1", "... but one that is slow beside the other");
    set_healthy();
    set_each(flow_mbps[1] = 18);
    finds_after(62, "pass", "nor is a rail slow whose speed differs from the others");
    set_healthy();
    job_begin(20);
    nodes[0].flow_mbps[1] = 45;
    watch_for(60);
    set_no_data();
    nodes[2].is_silent = true;
    finds_after(14, "unknown not_measured",
                "the last rates are not judged while the job waits for a silent node");
    job_begin(0);
    nodes[2].flow_mbps[1] = 0;
    finds_after(62, "pass", "a connection not limited by the network has no rate");
    nodes[2].flow_mbps[1] = 45;
    finds_after(14, "pass", "... nor has one with few samples");

    job_begin(0);
    nodes[1].far_mbps = nodes[3].far_mbps = 0;
    watch_for(30);
    nodes[1].flow_mbps[0] = 1300;
    watch_for(2);
    nodes[1].flow_mbps[0] = 190;
    finds_after(4, "pass", "one rate that is far too high makes no others slow");
    nodes[0].flow_mbps[0] = nodes[3].flow_mbps[0] = nodes[0].far_mbps = nodes[2].far_mbps = 45;
    finds_after(30, "warn rail_straggles n1 eth1",
                "a slow rail is named that has most connections of all");
}

static void test_stragglers(void)
{
    job_begin(0);
    nodes[2].cpu = 0.02;
    finds_after(20, "warn rank_straggles n3 rank 2",
                "a rank that sleeps while all others work is named");
    nodes[1].cpu = 0.3;
    finds_after(20, "pass", "... not if other ranks are in between");

    job_begin(0);
    set_each(cpu = i == 2 ? 0.2 : 0.01);
    set_each(queued = i == 2 ? 0.7 : 0.1);
    finds_after(20, "unknown rank_straggles n3 rank 2",
                "a rank that works on a busy machine while all others sleep is unknown");
    nodes[2].cpu = 0.02;
    finds_after(20, "pass", "... not if it hardly uses the processor it waits for");
    set_each(cpu = 0.4);
    nodes[1].cpu = nodes[1].queued = 0;
    finds_after(20, "pass", "... nor one that sleeps while the others wait for processors");

    job_begin(0);
    nodes[2].mbps[1] = 30;
    finds_after(20, "warn rail_straggles n3 eth2",
                "a rail with much less data than its peers is named");
    set_each(mbps[1] = 30);
    finds_after(20, "pass", "... a rail that all nodes use less is the job's choice");
    nodes[3].errors = 1;
    finds_after(6, "pass", "a few damaged frames are normal");
    finds_after(6, "warn link_errors n4 eth1", "a rail with many errors is named");

    job_begin(20);
    nodes[3].mbps[0] = nodes[3].mbps[1] = 0;
    finds_after(30, "pass", "a node may carry no data for a moment");
    finds_after(6, "warn rank_straggles n4", "... but not for long while others do");

    job_begin(20);
    nodes[0].losses = 1;
    finds_after(2, "warn link_errors n1 eth1", "a rail whose link was lost is named");
    nodes[0].losses = 0;
    finds_after(120, "warn link_errors n1 eth1", "... for two minutes");
    finds_after(10, "pass", "... and not longer");

    job_begin(0);
    nodes[1].is_unread = true;
    watch_for(2);
    nodes[1].is_unread = false;
    nodes[1].losses = 5000;
    watch_for(2);
    nodes[1].losses = 0;
    finds_after(2, "pass", "a counter that could not be read before has no increase");
}

/* ---------------------------------------------------------------- NCCL */

static struct ras fixture_parse(const char *name)
{
    char *text = fixture_text("ras", name);
    struct ras ras = {0};

    is_int(ras_parse(text, &ras), 0, "%s is read", name);
    is_int(ras.comm_count, 1, "... one communicator");
    free(text);
    return ras;
}

static void test_ras_answers(void)
{
    struct ras ras = fixture_parse("missing.json");

    is_int(ras.comms[0].missing_count, 1, "... one rank is missing");
    is_int(ras.comms[0].missing.pid, 1524345, "... its process");
    is_int(ras.comms[0].behind_count, 0, "... no rank is behind");
    ras_clear(&ras);
    ras = fixture_parse("missing-2.28.json");
    is_int(ras.comms[0].missing_count, 1,
           "... one rank is missing, in the format of 2.28 without a comma");
    is_int(ras.comms[0].missing.rank, 1, "... its rank");
    is_int(ras.comms[0].missing.pid, 1524345, "... its process");
    ras_clear(&ras);
    ras = fixture_parse("behind.json");
    is_int(ras.comms[0].behind_count, 1, "... one rank is behind");
    is_int(ras.comms[0].behind.rank, 2, "... rank 2");
    is_int((long)ras.comms[0].least, 6649, "... with its operation count");
    ras_clear(&ras);
    ras = fixture_parse("missing.txt");
    is_int(ras.comms[0].missing.pid, 3487984, "... the process of the missing rank");
    is_int(ras.comms[0].missing.rank, 21, "... its rank");
    ras_clear(&ras);
    ras = fixture_parse("behind.txt");
    is_int(ras.comms[0].behind_count, 6, "... six ranks are behind");
    is_int(ras.comms[0].behind.pid, 483072, "... the process of the first one");
    is_int((long)ras.comms[0].most, 6650, "... the operation count of the others");
    ras_clear(&ras);
    ras = fixture_parse("visible.txt");
    is_int(ras.comms[0].missing.rank, 13, "... the missing rank, in the format of 2.28");
    is_int(ras.comms[0].missing.pid, 483085, "... its process");
    is_int(ras.comms[0].behind_count, 2, "... two ranks have launched nothing");
    is_int(ras.comms[0].behind.pid, 483075, "... the process of the first one, which sees one GPU");
    is_int((long)ras.comms[0].most, 12, "... the operation count of the others");
    ras_clear(&ras);
    is_int(ras_parse("OK\nERROR: no\n{", &ras), -1, "any other text is refused");
    ras_clear(&ras);
}

/* Accepts one connection and answers with a fixture. */
static void *serve_fixture(void *context)
{
    int *pair = context, fd = accept(pair[0], NULL, NULL);
    char request[256], *text = fixture_text("ras", "behind.json");
    ssize_t got = 0, more;

    while (!memmem(request, (size_t)got, "STATUS\n", 7) &&
           (more = read(fd, request + got, sizeof request - (size_t)got)) > 0)
        got += more;
    if (memmem(request, (size_t)got, "SET FORMAT json\n", 16) && write(fd, "OK\nOK\n", 6) == 6 &&
        write(fd, text, strlen(text)) > 0)
        pair[1] = 1;
    close(fd);
    free(text);
    return NULL;
}

static void test_ras_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int pair[2] = {socket(AF_INET, SOCK_STREAM, 0), 0};
    struct ras ras = {0};
    pthread_t thread;
    char text[64];

    if (bind(pair[0], (struct sockaddr *)&address, size) != 0 || listen(pair[0], 1) != 0 ||
        getsockname(pair[0], (struct sockaddr *)&address, &size) != 0) {
        tap_skip("no port");
        return;
    }
    pthread_create(&thread, NULL, serve_fixture, pair);
    snprintf(text, sizeof text, "localhost:%u", ntohs(address.sin_port));
    is_int(ras_query(text, getuid() + 1, 60, &ras), -1, "a port of another user is not queried");
    is_int(ras_query(text, getuid(), 60, &ras), 0, "the port is queried in JSON and answers");
    is_int(ras.comm_count, 1, "... with a communicator");
    pthread_join(thread, NULL);
    ras_clear(&ras);
    close(pair[0]);
    is_int(ras_query(text, getuid(), 60, &ras), -1, "without a listener there is no answer");
    is_int(ras_query("nonsense", getuid(), 60, &ras), -1, "... nor with an invalid address");
}

/* Of healthy communicators only the sum is kept. */
static void keeps_few_communicators(void)
{
    struct ras ras = {0};
    char *text = NULL;
    double total = 0;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    bool is_missing = false;

    fputs("{\"communicators\":[", stream);
    for (int i = 0; i < 2000; i++) /* half have one rank behind, the last lacks one */
        fprintf(stream,
                "%s{\"hash\":\"%x\",\"ranks\":[{\"collective_counts\":{\"AllReduce\":5}},"
                "{\"pid\":7,\"collective_counts\":{\"AllReduce\":%d}}],\"missing_ranks\":[%s]}",
                i ? "," : "", i, i < 1000 ? 5 : 4,
                i == 1999 ? "{\"pid\":9,\"status\":{\"unresponsive\":true}}" : "");
    fputs("]}", stream);
    fclose(stream);
    is_int(ras_parse(text, &ras), 0, "an answer with 2000 communicators");
    ok(ras.comm_count < 100, "... few of which are kept: %zu", ras.comm_count);
    for (size_t i = 0; i < ras.comm_count; i++) {
        total += ras.comms[i].total;
        is_missing |= ras.comms[i].missing.pid == 9;
    }
    is_near(total, 1000 * 10 + 1000 * 9, 0, "... with the operations of all");
    ok(is_missing, "... and the one with a missing rank");
    ras_clear(&ras);
    free(text);
}

/* A process on the port may send anything. */
static void writes_one_line(void)
{
    static const char answer[] =
        "{\"communicators\":[{\"hash\":\"x\\nmuster-watch\\tn2\\t9e9\\t0\\t1\\n\",\"ranks\":[{"
        "\"host\":\"a\\u001b[2J\\nb\",\"pid\":7,\"collective_counts\":{\"AllReduce\":1}},{"
        "\"collective_counts\":{\"AllReduce\":2}}]}]}";
    struct watch_sample sample = {.node = "n1", .time_s = 7}, parsed;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    is_int(ras_parse(answer, &sample.ras), 0, "an answer with newlines in its names");
    watch_sample_write(&sample, stream);
    fclose(stream);
    is_int((long)strcspn(text, "\n\t\033"), (long)strlen(text) - 1,
           "... is written as one line of words");
    is_int(watch_sample_parse(text, &parsed), 0, "... which can be read");
    is_int(parsed.ras.comms[0].behind.pid, 7, "... with its values");
    watch_sample_clear(&parsed);
    free(text);
    watch_sample_clear(&sample);
    is_int(watch_sample_parse("muster-watch n1 7 0 0 l,e\033[2J,-,0,0,0,0,0", &parsed), 0,
           "a line with control characters in a name");
    is_str(parsed.rails[0].name, "e?[2J", "... is read without them");
    watch_sample_clear(&parsed);
}

static void accepts_one_task_for_each_node(void)
{
    job_begin(0);
    is_int(watch_node_of(&watch, 0, "n3"), 2, "a task reports its node, whatever Slurm's order");
    is_int(watch_node_of(&watch, 0, "n3"), 2, "... repeatedly");
    is_int(watch_node_of(&watch, 0, "n2"), -1, "... and no other node");
    is_int(watch_node_of(&watch, 1, "n3"), -1, "... and no other task reports that node");
    is_int(watch_node_of(&watch, 1, "n2"), 1, "... but its own");
    is_int(watch_node_of(&watch, 2, "n9"), -1, "an unknown node is refused");
}

/* Adds a sample with NCCL's report on the job of job_begin(), whose processes are 100 and so on. */
static void ras_add(const char *name, long missing_pid)
{
    struct watch_sample sample;

    now_s += 2;
    sample = sample_make(0);
    sample.ras = fixture_parse(name);
    if (missing_pid) {
        sample.ras.comms[0].missing.pid = missing_pid;
        sample.ras.comms[0].behind.pid = 100;
    }
    watch_add(&watch, 0, &sample, now_s);
}

static void report_missing_for_long(void)
{
    for (int i = 0; i < 12; i++) {
        ras_add("missing.json", 102);
        watch_for(8);
    }
}

static void test_communicators(void)
{
    job_begin(20);
    ras_add("behind.json", 0);
    finds_after(2, "pass", "a rank may be behind for a moment");
    watch_for(32);
    ras_add("behind.json", 0);
    finds_after(2, "warn rank_straggles n3 rank 2", "... and for longer while data moves");
    set_no_data();
    watch_for(20);
    ras_add("behind.json", 0);
    finds_after(2, "warn rank_straggles n3 rank 2", "... or pauses");
    finds_after(14, "fail rank_hung n3 rank 2", "... but not while no rank continues");

    job_begin(20);
    ras_add("missing.json", 103);
    watch_for(12);
    ras_add("missing.json", 103);
    finds_after(2, "warn rank_straggles n4 rank 3",
                "a rank that NCCL misses is named with its process");
    set_no_data();
    finds_after(14, "fail rank_hung n4 rank 3", "... and hangs if no data moves");
    watch.is_patient = true;
    finds_after(2, "warn rank_straggles n4 rank 3", "... --hang waits longer");

    job_begin(20);
    nodes[3].has_none = true;
    ras_add("missing.json", 103);
    set_no_data();
    watch_for(14);
    ras_add("missing.json", 103);
    finds_after(2, "unknown not_measured",
                "a rank that has ended gives no answer, which is no hang");
    finds_after(20, "fail rank_hung n4 rank 3", "... until no data moved for the time of a hang");
    has_str(verdict.line, "has ended", "... and the reason names its end");

    job_begin(20);
    nodes[2].is_silent = true;
    set_no_data();
    report_missing_for_long();
    is_str(finding_text(), "fail rank_hung n3 rank 2", "a frozen node that NCCL misses is named");

    job_begin(20);
    nodes[2].is_silent = nodes[1].is_silent = true;
    set_no_data();
    report_missing_for_long();
    is_str(finding_text(), "fail job_hung", "... not if several nodes send no samples");

    job_begin(20);
    nodes[1].is_silent = true;
    set_no_data();
    report_missing_for_long();
    is_str(finding_text(), "fail job_hung n2", "... nor if another node sends none, which is");

    job_begin(20);
    ras_add("missing.json", 0);
    watch_for(12);
    ras_add("missing.json", 0);
    finds_after(2, "pass", "a report on another job's processes does not count");
}

/* ---------------------------------------------------------------- a node */

static char *root;

static void put_process(int pid, const char *variables, char state, int ticks)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "proc/%d/environ", pid);
    snprintf(text, sizeof text, "%s", variables);
    for (char *blank = text; (blank = strchr(blank, ' ')); blank++)
        *blank = '\0';
    tree_put_bytes(root, path, text, strlen(variables));
    snprintf(path, sizeof path, "proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (a) b) %c 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 1", pid, state,
             ticks);
    tree_put(root, path, text);
    snprintf(path, sizeof path, "proc/%d/task/%d/schedstat", pid, pid);
    tree_put(root, path, "7 2500000000 9\n");
    snprintf(path, sizeof path, "proc/%d/io", pid);
    tree_put(root, path, "rchar: 9\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n");
}

static void test_node_reading(void)
{
    struct watch_job job = {.id = 12, .own_step = 3, .uid = getuid()};
    struct watch_sample sample = {.time_s = 7}, parsed;
    char address[64], *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    static const struct rdma_port port = {.device = "irdma0", .port = 1};
    static const struct fabric fabric = {.rails[0] = {.name = "irdma0:1", .port = &port},
                                         .rail_count = 1};
    long tick = sysconf(_SC_CLK_TCK);

    root = tree_unpack("");
    put_process(40, "SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_PROCID=5 ", 'S', 0);
    put_process(41, "SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_PROCID=5 NCCL_RAS_ADDR=localhost:9 ",
                'R', (int)(3 * tick));
    put_process(42, "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_PROCID=0 ", 'R', 0);
    put_process(43, "SLURM_JOB_ID=13 SLURM_STEP_ID=1 SLURM_PROCID=6 ", 'R', 0);
    put_process(44, "SLURM_JOB_ID=12 SLURM_PROCID=0 ", 'S', 0);
    put_process(45, "HOME=/ ", 'R', 0);
    put_process(46, "SLURM_JOB_ID=12 SLURM_STEP_ID=2 SLURM_PROCID=1 ", 'S', 0);
    put_process(48, "SLURM_JOB_ID=12 SLURM_STEP_ID=4 SLURM_PROCID=0 MUSTER_KEEPER=1 ", 'S', 0);
    put_process(47, "SLURM_JOB_ID=12 SLURM_STEP_ID=2 SLURM_PROCID=1 OMPI_COMM_WORLD_RANK=9 ", 'T',
                0);
    is_int(watch_read_ranks(root, &job, &sample, address, sizeof address), 0, "a node is read");
    is_int(sample.rank_count, 2,
           "ranks are the job's: not of other jobs, the batch script, launchers or muster's own "
           "steps");
    is_int(sample.ranks[0].rank, 5, "a rank has srun's number");
    is_int(sample.ranks[0].pid, 41, "... the process that works most");
    is_int(sample.ranks[0].state, 'R', "... with its state");
    is_near(sample.ranks[0].cpu_s, 3, 0.01, "... the processor time of all its processes");
    is_near(sample.ranks[0].queued_s, 5, 0.01, "... their time in run queues");
    is_near(sample.ranks[0].io_bytes, 24576, 1, "... and their bytes read and written");
    is_int(sample.ranks[1].rank, 9, "a launcher's own number takes precedence");
    is_int(sample.ranks[1].state, 'T', "... that rank is stopped");
    is_str(address, "localhost:9", "the address of NCCL's port is read from the job");

    tree_put(root, "sys/class/infiniband/irdma0/ports/1/state", "4: ACTIVE\n");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/counters/link_downed", "\n");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/counters/port_rcv_data", "\n");
    is_int(watch_read_rails(root, &fabric, &sample), 0, "rails are read");

    snprintf(sample.node, sizeof sample.node, "n1");
    sample.ras = fixture_parse("behind.json");
    watch_sample_write(&sample, stream);
    fclose(stream);
    text[strcspn(text, "\n")] = '\0';
    is_int(watch_sample_parse(text, &parsed), 0, "a sample is read from a line");
    is_str(parsed.node, "n1", "... with its node");
    is_int(parsed.rank_count, 2, "... with its ranks");
    is_int(parsed.ranks[1].state, 'T', "... and their states");
    ok(parsed.rail_count == 1 && parsed.rails[0].is_partial,
       "... its rail does not count RDMA bytes");
    ok(isnan(parsed.rails[0].losses) && isnan(parsed.rails[0].errors), "... or link losses");
    ok(isnan(parsed.rails[0].sent_bytes) && isnan(parsed.rails[0].received_bytes),
       "... and has no byte count, since a part could not be read");
    is_int(parsed.ras.comms[0].behind.pid, 102, "... NCCL's report is included");
    watch_sample_clear(&parsed);
    is_int(watch_sample_parse("slurmstepd: error: muster-watch", &parsed), -1,
           "other lines are refused");
    is_int(watch_sample_parse("muster-watch n1 7 0 0 r,1,x", &parsed), -1,
           "... and so are incomplete ones");
    free(text);
    watch_sample_clear(&sample);
    tree_remove(root);
}

static void finds_ranks_behind_thousands(void)
{
    struct watch_job job = {.id = 12, .own_step = 3, .uid = getuid()};
    struct watch_sample sample = {.time_s = 7};
    char address[64], path[4096];

    root = tree_unpack("");
    put_process(40, "SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_PROCID=4 ", 'R', 0);
    for (int pid = 1000; pid < 6000; pid++) {
        snprintf(path, sizeof path, "%s/proc/%d", root, pid);
        mkdir(path, 0755);
    }
    put_process(70000, "SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_PROCID=5 ", 'R', 0);
    is_int(watch_read_ranks(root, &job, &sample, address, sizeof address), 0,
           "a node with 5000 processes is read");
    is_int(sample.rank_count, 2, "... with the first and the last rank");
    watch_sample_clear(&sample);
    tree_remove(root);
    is_int(watch_read_ranks("/nonexistent", &job, &sample, address, sizeof address), -1,
           "without /proc the reading fails");
}

int main(void)
{
    test_running_jobs();
    test_hangs();
    test_uncounted_bytes();
    test_stopped_ranks();
    test_without_data();
    test_suspended_jobs();
    test_patient_watch();
    test_ended_ranks();
    test_stragglers();
    test_unread_data();
    test_connections();
    test_recorded_jobs();
    test_ras_answers();
    test_ras_port();
    keeps_few_communicators();
    writes_one_line();
    accepts_one_task_for_each_node();
    test_communicators();
    test_node_reading();
    finds_ranks_behind_thousands();
    return tap_done();
}
