/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/undo.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "validate/slurm/cluster.h"

/* The journal of a run, and what is undone by it in a cluster that the test makes up. */

static char directory[] = "/tmp/muster-undo-XXXXXX";
static int seen_unlocked, loads;
static char done[256];

static void note(const char *what, const char *name)
{
    size_t length = strlen(done);

    snprintf(done + length, sizeof done - length, "%s %s;", what, name);
}

int cluster_load(struct cluster *cluster, struct error *err)
{
    (void)err;
    *cluster = (struct cluster){0};
    loads++;
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
    (void)cluster;
}

struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    static char name_3[] = "n3", comment_3[] = "x [muster run: y]";
    static struct cluster_node in_service, drained = {.is_drained = true},
                                           marked = {.name = name_3, .comment = comment_3};

    (void)cluster;
    return strcmp(name, "n4") == 0     ? &drained
           : strcmp(name, "gone") == 0 ? NULL
           : strcmp(name, "n3") == 0   ? &marked
                                       : &in_service;
}

int cluster_drain(const char *nodes, const char *reason, struct error *err)
{
    (void)err;
    note(reason, nodes);
    return 0;
}

int cluster_down(const char *nodes, const char *reason, struct error *err)
{
    (void)reason;
    (void)err;
    note("down", nodes);
    return 0;
}

int cluster_set_comment(const char *nodes, const char *comment, struct error *err)
{
    (void)err;
    note(comment, nodes);
    return 0;
}

int cluster_unreserve(const char *name, struct error *err)
{
    (void)err;
    note("unreserve", name);
    return 0;
}

int cluster_jobs(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    (void)err;
    *jobs = NULL;
    note("jobs", prefix);
    return 0;
}

int cluster_job_cancel(uint32_t id, struct error *err)
{
    (void)id;
    (void)err;
    return 0;
}

/* The files that other runs look at. */
static int count_journals(void)
{
    DIR *runs = opendir(directory);
    const struct dirent *entry;
    int count = 0;

    while (runs && (entry = readdir(runs)))
        count += entry->d_name[0] != '.';
    if (runs)
        closedir(runs);
    return count;
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
    seen_unlocked += count_journals();
    return __real_flock(fd, operation);
}

static void say(const char *text)
{
    (void)text;
}

int main(int argc, char **argv)
{
    struct undo undo, second;
    struct error err = {""};
    char command[64];

    ok(mkdtemp(directory) != NULL, "a place for journals");
    is_int(undo_begin(directory, "run", argc, argv, &undo, &err), 0, "a run begins (%s)", err.text);
    is_int(seen_unlocked, 0, "its journal is locked before others see it");
    is_int(count_journals(), 1, "... and then they do");
    is_int(undo_leftovers(directory, say, &err), 0, "... as of a run that lives");
    is_int(undo_begin(directory, "run", argc, argv, &second, &err), 0, "another of its name");
    is_str(second.path, "", "... has its journal in memory");
    has_str(err.text, "no journal in ", "... and is told so");
    is_int(undo_end(&second, &err), 0, "the second ends");
    is_int(count_journals(), 1, "... and leaves the first one's journal");
    undo_note_reservation(&undo, "r1", &err);
    undo_note_job(&undo, "j1", &err);
    undo_note_resume(&undo, "n1", "muster: one", &err);
    undo_note_resume(&undo, "n2", "muster: two", &err);
    undo_note_resume(&undo, "n3", "muster: three", &err);
    undo_note_resume(&undo, "n4", "muster: four", &err);
    undo_note_resume(&undo, "gone", "muster: five", &err);
    undo_note_settled(&undo, "n2", &err);
    is_int(undo_end(&undo, &err), 0, "the first ends");
    is_str(done, "jobs j1;muster: one n1;muster: three n3;x n3;unreserve r1;",
           "... jobs first, then nodes that are not settled, then reservations");
    is_int(loads, 1, "... and the controller is asked for its nodes once");
    is_int(count_journals(), 0, "... and nothing is left of it");
    snprintf(command, sizeof command, "rmdir '%s'", directory);
    is_int(system(command), 0, "no file is left behind");
    return tap_done();
}
