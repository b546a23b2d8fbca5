/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/explain/explain.h"
#include "validate/command/command.h"
#include "validate/command/jsontext.h"
#include "validate/report/table.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct view {
    struct explain_step step;
    struct node_view node_view;
    struct envplan_node *node;
    struct explain_task *tasks; /* count of them, with their plans */
    struct envplan *plans;
    size_t count;
    bool is_all, is_json, is_export;
};

/* ---------------------------------------------------------------- text */

/* Values and facts may come from the user. */
static void print_variable(const struct envplan_variable *variable)
{
    static const char *const verbs[] = {"=", " left alone", " removed"};

    printf("  %s%s", variable->name, verbs[variable->action]);
    if (variable->action == ENVPLAN_SET)
        table_print_text(stdout, variable->value);
    printf("\n      %s: ", variable->rule);
    table_print_text(stdout, variable->fact);
    putchar('\n');
}

static bool is_shown(const struct view *view, const struct envplan_variable *variable)
{
    return view->is_all || variable->action != ENVPLAN_KEEP;
}

/* Whether the variable is the same for all tasks, facts included. */
static bool is_shared(const struct view *view, size_t place)
{
    const struct envplan_variable *first = &view->plans[0].variables[place];

    for (size_t i = 1; i < view->count; i++) {
        const struct envplan *plan = &view->plans[i];

        if (place >= plan->count || strcmp(plan->variables[place].name, first->name) != 0 ||
            plan->variables[place].action != first->action ||
            strcmp(plan->variables[place].value, first->value) != 0 ||
            strcmp(plan->variables[place].fact, first->fact) != 0)
            return false;
    }
    return place < view->plans[0].count;
}

/* Prints "rank 3 of 16, local 3 of 8, node 0 of 2, GPU3". */
static void print_task(const struct explain_task *task)
{
    const struct explain_step *step = task->step;

    printf("rank %ld of %ld, local %ld of %ld", task->place.rank, step->ntasks, task->local_rank,
           step->local_size);
    if (!task->visible.is_known)
        printf(", GPUs unknown (%s)", task->visible.fact);
    else if (task->visible.count == 0)
        fputs(", no GPU", stdout);
    else
        for (size_t i = 0; i < task->visible.count; i++)
            printf("%sGPU%zu", i ? " " : ", ", task->visible.gpus[i]);
    putchar('\n');
}

static void print_plan(const struct view *view, size_t i, bool skip_shared)
{
    for (size_t j = 0; j < view->plans[i].count; j++)
        if (is_shown(view, &view->plans[i].variables[j]) &&
            !(skip_shared && j < view->plans[0].count && is_shared(view, j)))
            print_variable(&view->plans[i].variables[j]);
}

static void print_text(const struct view *view)
{
    const struct explain_step *step = &view->step;

    printf("node    %s, %ld of %zu%s%s\n", step->node, step->node_index, step->node_list.count,
           step->nodes ? ": " : "", step->nodes ? step->nodes : "");
    printf("fabric  %s: %s\n", fabric_class_name(view->node->fabric.class),
           view->node->fabric.reason);
    if (view->count > 1) {
        puts("\nevery rank of the node");
        for (size_t j = 0; j < view->plans[0].count; j++)
            if (is_shared(view, j) && is_shown(view, &view->plans[0].variables[j]))
                print_variable(&view->plans[0].variables[j]);
    }
    for (size_t i = 0; i < view->count; i++) {
        putchar('\n');
        print_task(&view->tasks[i]);
        print_plan(view, i, view->count > 1);
    }
}

/* ---------------------------------------------------------------- export, JSON */

static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static void print_export(const struct view *view)
{
    for (size_t i = 0; i < view->plans[0].count; i++) {
        const struct envplan_variable *variable = &view->plans[0].variables[i];

        if (variable->action == ENVPLAN_SET) {
            printf("export %s=", variable->name);
            print_quoted(variable->value);
            putchar('\n');
        } else if (variable->action == ENVPLAN_REMOVE) {
            printf("unset %s\n", variable->name);
        }
    }
}

static json_t *variable_json(const struct envplan_variable *variable)
{
    static const char *const actions[] = {"set", "keep", "remove"};
    json_t *object = json_pack("{s:s, s:s, s:o, s:o}", "name", variable->name, "action",
                               actions[variable->action], "rule", jsontext(variable->rule), "fact",
                               jsontext(variable->fact));

    if (object && variable->action == ENVPLAN_SET)
        json_object_set_new(object, "value", jsontext(variable->value));
    return object;
}

static int print_json(const struct view *view, size_t i)
{
    const struct explain_task *task = &view->tasks[i];
    json_t *gpus = json_array(), *variables = json_array(), *object;

    for (size_t j = 0; task->visible.is_known && j < task->visible.count; j++)
        json_array_append_new(
            gpus, jsontext(view->node_view.inventory->gpus[task->visible.gpus[j]].location.pci));
    for (size_t j = 0; j < view->plans[i].count; j++)
        if (is_shown(view, &view->plans[i].variables[j]))
            json_array_append_new(variables, variable_json(&view->plans[i].variables[j]));
    object =
        json_pack("{s:o, s:s, s:o, s:I, s:I, s:o, s:o}", "node", jsontext(view->step.node),
                  "fabric", fabric_class_name(view->node->fabric.class), "reason",
                  jsontext(view->node->fabric.reason), "rank", (json_int_t)task->place.rank,
                  "local_rank", (json_int_t)task->local_rank, "gpus", gpus, "variables", variables);
    return jsontext_print(stdout, JSON_COMPACT, object);
}

/* ---------------------------------------------------------------- the work */

static int make_plan(const struct view *view, struct explain_task *task, struct envplan *plan)
{
    if (view->step.is_off)
        return envplan_make_off(explain_getenv, task, plan);
    return envplan_make(view->node, &task->place, &task->visible, explain_getenv, task, plan);
}

/* Plans the requested tasks: one rank, none in particular, or all of the node. */
static int make_plans(struct view *view)
{
    const struct explain_step *step = &view->step;
    bool is_by_hand = view->is_export && step->rank < 0;
    long first = is_by_hand ? -1 : step->rank >= 0 ? step->rank - step->first_rank : 0;
    size_t wanted = is_by_hand || step->rank >= 0 ? 1 : (size_t)step->local_size;

    view->tasks = calloc(wanted, sizeof *view->tasks);
    view->plans = calloc(wanted, sizeof *view->plans);
    if (!view->tasks || !view->plans)
        return -1;
    for (; view->count < wanted; view->count++) {
        struct explain_task *task = &view->tasks[view->count];

        explain_task_make(step, view->node_view.inventory, first + (long)view->count, task);
        if (make_plan(view, task, &view->plans[view->count]) < 0)
            return -1;
    }
    return 0;
}

static int explain(struct view *view)
{
    struct failed_rails failed = {0};
    struct error err;
    int status = 0;

    if (explain_step_prepare(&view->step, view->node_view.inventory, &err) < 0)
        return command_failed(COMMAND_USAGE, "muster explain", "%s", err.text);
    view->node = malloc(sizeof *view->node);
    if (!view->step.root)
        failed_rails_read(&view->node_view.conf, &failed);
    if (view->node)
        envplan_node_make(view->node_view.inventory, &view->node_view.conf, view->step.node,
                          view->step.nodes ? view->step.nodes : view->step.node, &failed,
                          view->node);
    failed_rails_clear(&failed);
    if (!view->node || make_plans(view) < 0)
        return command_failed(COMMAND_UNKNOWN, "muster explain", "out of memory");
    if (!view->is_json && !view->is_export)
        print_text(view);
    else if (view->is_export)
        print_export(view);
    for (size_t i = 0; i < view->count && view->is_json; i++)
        status |= print_json(view, i);
    return status == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;
}

static int read_and_explain(struct view *view)
{
    struct explain_step *step = &view->step;
    int status = command_node_open("muster explain", step->root, step->config, &view->node_view);

    if (!step->node && !step->root) /* the name that lines of muster.conf use */
        step->node = command_node(NULL, "");
    if (status == COMMAND_PASS)
        status = explain(view);
    for (size_t i = 0; i < view->count; i++)
        envplan_clear(&view->plans[i]);
    free(view->plans);
    free(view->tasks);
    free(view->node);
    command_node_close(&view->node_view);
    explain_step_clear(step);
    return status;
}

/* ---------------------------------------------------------------- options */

static int take_number(const char *text, char **end, long least, long *number, struct error *err)
{
    *number = strtol(text, end, 10);
    if (*end == text || *number < least || *number > INT_MAX)
        return error_set(err, "expected a number of at least %ld, found \"%.64s\"", least, text);
    return 0;
}

static int take_job(const char *value, void *context, struct error *err)
{
    struct explain_step *step = &((struct view *)context)->step;
    char *end;

    if (take_number(value, &end, 1, &step->job, err) != 0 ||
        (*end == '.' && take_number(end + 1, &end, 0, &step->step, err) != 0))
        return -1;
    return *end ? error_set(err, "expected JOB or JOB.STEP, found \"%.64s\"", value) : 0;
}

static int take_variable(const char *value, void *context, struct error *err)
{
    struct explain_step *step = &((struct view *)context)->step;

    if (value[0] == '=' || !strchr(value, '='))
        return error_set(err, "expected NAME=VALUE, found \"%.64s\"", value);
    if (step->variable_count == EXPLAIN_VARIABLES)
        return error_set(err, "expected at most %d variables", EXPLAIN_VARIABLES);
    step->variables[step->variable_count++] = value;
    return 0;
}

/* Splits the value, which is part of argv, into words in place. */
static int take_program(const char *value, void *context, struct error *err)
{
    struct explain_step *step = &((struct view *)context)->step;
    char *text = (char *)value;

    step->word_count = 0;
    for (char *word; (word = strsep(&text, " "));) {
        if (!word[0])
            continue;
        if (step->word_count == EXPLAIN_WORDS)
            return error_set(err, "expected at most %d words", EXPLAIN_WORDS);
        step->words[step->word_count++] = word;
    }
    step->words[step->word_count] = NULL;
    return 0;
}

#define FIELD(member) OPTION_FIELD(struct view, member)

static const struct option_row rows[] = {
    OPTION('A', "account", "NAME", "account of the job, for matching lines of muster.conf", TEXT,
           FIELD(step.account)),
    OPTION('a', "all", NULL, "also print variables that are left unchanged, and why", FLAG,
           FIELD(is_all)),
    OPTION('c', "config", "FILE", "configuration file, instead of $MUSTER_CONF or muster.conf",
           TEXT, FIELD(step.config)),
    OPTION('e', "env", "NAME=VALUE", "a variable set by the user; may be repeated", CALL,
           .take = take_variable),
    OPTION('\0', "export", NULL,
           "print shell commands, for a program started by hand outside Slurm; rank-specific "
           "variables only with --procid",
           FLAG, FIELD(is_export)),
    OPTION('\0', "gpus", "LIST",
           "GPUs that the tasks can open: indexes as printed by muster topology, none, or each (an "
           "equal share per task)",
           TEXT, FIELD(step.gpus), .unset = "all"),
    OPTION('\0', "job", "ID[.STEP]", "the job and its step, for MASTER_PORT", CALL,
           .take = take_job, .initial = "1.0"),
    OPTION('j', "json", NULL, "print one JSON object for each task", FLAG, FIELD(is_json)),
    OPTION('\0', "node", "NAME", "name of this node in the step", TEXT, FIELD(step.node),
           .unset = "$SLURMD_NODENAME, or this host's name in slurm.conf"),
    OPTION('n', "nodes", "LIST", "the step's nodes, in Slurm's notation", TEXT, FIELD(step.nodes),
           .unset = "this node"),
    OPTION('\0', "ntasks", "N", "the step's tasks", LONG, FIELD(step.ntasks),
           OPTION_RANGE(1, INT_MAX)),
    OPTION('\0', "ntasks-per-node", "N", "tasks per node", LONG, FIELD(step.ntasks_per_node),
           OPTION_RANGE(1, INT_MAX), .unset = "one for each GPU"),
    OPTION('\0', "off", NULL, "print the variables with srun --muster=off", FLAG,
           FIELD(step.is_off)),
    OPTION('p', "partition", "NAME", "partition of the job, for matching lines of muster.conf",
           TEXT, FIELD(step.partition)),
    OPTION('\0', "procid", "RANK", "print only this rank instead of all ranks of the node", LONG,
           FIELD(step.rank), OPTION_RANGE(0, INT_MAX)),
    OPTION('\0', "program", "COMMAND", "program of the step, possibly a launcher", CALL,
           .take = take_program),
    OPTION('r', "root", "DIR",
           "read a recorded tree instead of this machine and environment; reads only a "
           "configuration given with --config",
           TEXT, FIELD(step.root)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster explain",
    .summary = "Prints the environment that the plugin would set for the tasks of a step on this "
               "node, and for each variable the rule and the reason. Does not need Slurm.",
    .status = "0 printed, 2 usage, 3 cannot read the node.",
    .rows = rows,
    .words_hint = "name the program with --program",
};

int command_explain(int argc, char **argv)
{
    struct view view = {.step = {.ntasks = -1, .ntasks_per_node = -1, .rank = -1}};
    int status = command_options(&set, argc, argv, &view);

    if (status >= 0)
        return status;
    if (view.is_json && view.is_export)
        return command_misuse(argv[0], "--json and --export are mutually exclusive");
    return read_and_explain(&view);
}
