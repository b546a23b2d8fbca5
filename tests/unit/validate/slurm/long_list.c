/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/constants/slurm_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/preempts.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/step/long_list.h"

/* Steps on so many nodes that their names fit neither into srun's nor into our own program's
 * command line. A script replaces srun and prints its arguments. */

enum { NODES = 16384, ARGUMENT_KERNEL_MAX = 32 * 4096 };

int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err)
{
    return 0;
}

bool preempts(const struct hostlist *names, const char *partition)
{
    return false;
}

int cluster_federated_name(char *name, size_t size, struct error *err)
{
    *name = '\0';
    return 0;
}

static struct hostlist nodes;
static char output_lines[4][200];
static int line_count;

static void add_output_line(const char *line, bool is_error, void *context)
{
    if (!is_error && line_count < 4)
        snprintf(output_lines[line_count++], sizeof *output_lines, "%s", line);
}

/* Returns the result of step_run(). */
static int run_step(const char *value, const long *groups, const struct user *user,
                    struct error *err)
{
    struct arguments program = {0};
    struct process_result result = {0};
    int rv;

    line_count = 0;
    err->text[0] = '\0';
    memset(output_lines, 0, sizeof output_lines);
    arguments_add(&program, "muster-launch");
    arguments_add(&program, "--expect-nodes=%s", value);
    rv = step_run(
        &(struct step){.job_id = 7,
                       .nodes = &nodes,
                       .groups = groups,
                       .tasks_per_node = 1,
                       .program = program.argv},
        &(struct process){.user = user, .deadline_s = 20, .grace_s = 1, .on_line = add_output_line},
        &result, err);
    arguments_clear(&program);
    return rv;
}

/* Makes a srun script that prints the length of its longest argument, the number of names in
 * --nodelist, its last argument, and the size of standard input. */
static void srun_make(const char *directory)
{
    char path[200];

    tree_put(directory, "srun",
             "#!/bin/sh\n"
             "most=0\n"
             "for word; do\n"
             "    [ ${#word} -le $most ] || most=${#word}\n"
             "    case $word in --nodelist=*/*) list=${word#*=} ;; esac\n"
             "done\n"
             "echo longest $most\n"
             "[ -z \"${list-}\" ] || tr -d '\\n' <$list | tr , '\\n' | sort -u | wc -l\n"
             "echo \"$word\" | cut -c1-60\n"
             "[ \"$word\" != --expect-nodes=- ] || wc -c\n");
    snprintf(path, sizeof path, "%s/srun", directory);
    chmod(path, 0755);
    chmod(directory, 0755);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", directory);
    setenv("PATH", path, 1);
}

/* Many nodes queried by halves. A step with a bad node does not start. */
static struct {
    int queried[NODES], answered[NODES];
    bool is_bad[NODES];
    size_t most;
    int steps;
} halving;

static size_t group_query(size_t first, size_t count, bool is_last, void *context)
{
    bool fails = false;

    halving.steps++;
    halving.most = count > halving.most ? count : halving.most;
    for (size_t i = first; i < first + count; i++) {
        halving.queried[i] = 1;
        fails |= halving.is_bad[i];
    }
    for (size_t i = first; !fails && i < first + count; i++)
        halving.answered[i]++;
    return fails ? count : 0;
}

/* Queries all nodes, of which the nodes from bad to bad_end - 1 are bad. */
static void query_by_halves(int bad, int bad_end)
{
    memset(&halving, 0, sizeof halving);
    for (int i = bad; i < bad_end; i++)
        halving.is_bad[i] = true;
    step_query_by_halves(NODES, group_query, NULL);
}

static int count_nodes(const int *what, int value)
{
    int count = 0;

    for (int i = 0; i < NODES; i++)
        count += what[i] == value;
    return count;
}

static void finds_bad_nodes_by_halves(void)
{
    query_by_halves(0, 0);
    is_int(halving.steps, NODES / STEP_GROUP_NODES, "one step for each group of nodes");
    is_int((int)halving.most, STEP_GROUP_NODES, "... with groups of the maximum size");
    is_int(count_nodes(halving.answered, 1), NODES, "... each node answers once");
    for (int at = 0; at < NODES; at += NODES / 2 - 1) {
        query_by_halves(at, at + 1);
        is_int(count_nodes(halving.answered, 1), NODES - 1, "all nodes answer except bad node %d",
               at);
        ok(halving.steps < NODES / STEP_GROUP_NODES + 20, "... after %d steps", halving.steps);
    }
    query_by_halves(1000, 1064);
    is_int(count_nodes(halving.answered, 1), NODES - 64, "all answer except 64 bad nodes in a row");
    query_by_halves(300, NODES);
    is_int(count_nodes(halving.answered, 1), 300, "... or except all from one node on");
    ok(halving.steps < 2 * STEP_GROUP_NODES + NODES / STEP_GROUP_NODES + 40,
       "... without asking each node alone: %d steps", halving.steps);
    query_by_halves(0, NODES);
    is_int(count_nodes(halving.queried, 1), NODES, "if no step starts all nodes were asked");
    ok(halving.steps < NODES / STEP_GROUP_NODES + 20, "... in %d steps only", halving.steps);
}

int main(void)
{
    char directory[] = "/tmp/long_list.XXXXXX", path[64], *value = NULL;
    long *groups = calloc(NODES, sizeof *groups);
    size_t size;
    FILE *stream = open_memstream(&value, &size);
    struct user nobody;
    struct error err;

    for (int i = 0; i < NODES; i++) {
        char name[64];

        snprintf(name, sizeof name, "a%dz.cluster.example", i);
        hostlist_append(&nodes, name);
        fprintf(stream, "%s%s", i ? "," : "", name);
    }
    fclose(stream);
    if (!mkdtemp(directory))
        return 1;
    srun_make(directory);

    finds_bad_nodes_by_halves();
    ok(!long_list_value("--expect-nodes=n[1-4]"), "a short value needs no standard input");
    is_int(run_step(value, NULL, NULL, &err), 0, "a step on %d nodes with different names", NODES);
    ok(strncmp(output_lines[0], "longest ", 8) == 0 &&
           atoi(output_lines[0] + 8) < ARGUMENT_KERNEL_MAX / 2,
       "... has no long argument: %s%s", output_lines[0], err.text);
    is_int(atoi(output_lines[1]), NODES, "... srun gets all names in a file");
    is_str(output_lines[2], "--expect-nodes=-", "... the program gets its list on standard input");
    is_int(atoll(output_lines[3]), size + 1, "... completely");

    if (geteuid() == 0 && user_find("nobody", &nobody, &err) == 0) {
        is_int(run_step(value, NULL, &nobody, &err), 0, "the same as another user");
        is_int(atoi(output_lines[1]), NODES, "... who may read the file, too");
    } else {
        tap_skip("another user: only root can become one");
    }
    is_int(run_step("n[1-4]", NULL, NULL, &err), 0, "a short value");
    is_str(output_lines[2], "--expect-nodes=n[1-4]", "... stays an argument");

    is_int(run_step("n[1-4]", groups, NULL, &err), 0, "components get files, too");
    is_int(run_step(value, groups, NULL, &err), -1,
           "... but a long value is refused, since they share one input");
    has_str(err.text, "the value of --expect-nodes=... has", "... with the reason");

    snprintf(path, sizeof path, "%s/srun", directory);
    unlink(path);
    rmdir(directory);
    hostlist_clear(&nodes);
    free(groups);
    free(value);
    return tap_done();
}
