/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/explain/explain.h"
#include "validate/command/command.h"
#include "validate/command/jsontext.h"
#include "validate/report/table.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void)
{
    puts("Usage: muster explain [OPTION...]\n"
         "Prints the environment that the plugin would give to the tasks of a step on this node,\n"
         "each variable with the rule that chose it and the fact behind it. No Slurm is needed.\n"
         "\n"
         "  -n, --nodes LIST       the step's nodes, in Slurm's notation (this node)\n"
         "      --node NAME        which of them this is (its host name)\n"
         "      --ntasks N         the step's tasks\n"
         "      --ntasks-per-node N  tasks of each node (one for each GPU)\n"
         "      --procid RANK      this rank only (all of the node, what they share first)\n"
         "      --gpus LIST        GPUs that the tasks can open: numbers as muster topology has\n"
         "                         them, none, or each: an equal share for each task (all)\n"
         "  -p, --partition NAME   the job's partition, for the site's lines\n"
         "  -A, --account NAME     the job's account, likewise\n"
         "      --program COMMAND  the step's program, by which a launcher is told from a rank\n"
         "      --job ID[.STEP]    the job and its step, for MASTER_PORT (1.0)\n"
         "  -e, --env NAME=VALUE   a variable that the user has set; may be repeated\n"
         "      --off              what becomes of the variables with --muster=off\n"
         "  -a, --all              also what is left alone, and why\n"
         "      --export           shell commands, for a program that is started by hand outside\n"
         "                         of Slurm; the ranks' own variables only with --procid\n"
         "  -j, --json             one JSON object for each task\n"
         "  -c, --config FILE      the configuration, instead of $MUSTER_CONF or muster.conf\n"
         "  -r, --root DIR         a recorded tree instead of this machine; then no configuration\n"
         "                         is read but one named with --config, nor this environment\n"
         "  -h, --help             this text\n"
         "\n"
         "Exit status: 0 done, 2 usage, 3 the node cannot be read.");
}

enum format { FORMAT_TEXT, FORMAT_EXPORT, FORMAT_JSON };

struct view {
    const char *name; /* "muster explain" */
    struct explain_step step;
    struct look look;
    struct envplan_node *node;
    struct explain_task *tasks; /* count of them, with their plans */
    struct envplan *plans;
    size_t count;
    enum format format;
    bool is_all;
};

/* ---------------------------------------------------------------- text */

/* Values and facts can be the user's: no escape sequences for the terminal. */
static void print_safely(const char *text)
{
    char *clean = strdup(text);

    if (!clean)
        return;
    table_clean(clean);
    fputs(clean, stdout);
    free(clean);
}

static void print_variable(const struct envplan_variable *variable)
{
    static const char *const verbs[] = {"=", " left alone", " removed"};

    printf("  %s%s", variable->name, verbs[variable->action]);
    if (variable->action == ENVPLAN_SET)
        print_safely(variable->value);
    printf("\n      %s: ", variable->rule);
    print_safely(variable->fact);
    putchar('\n');
}

static bool is_shown(const struct view *view, const struct envplan_variable *variable)
{
    return view->is_all || variable->action != ENVPLAN_KEEP;
}

/* The variable of all tasks is one and the same, facts included. */
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

/* "rank 3 of 16, local 3 of 8, node 0 of 2, GPU3" */
static void print_task(const struct explain_task *task)
{
    const struct explain_step *step = task->step;

    printf("rank %ld of %ld, local %ld of %ld", task->place.rank, step->ntasks, task->local_rank,
           step->local_size);
    if (!task->visible.is_known)
        printf(", GPUs not known (%s)", task->visible.fact);
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

    printf("node    %s, %ld of %zu%s%s\n", step->node, step->node_place, step->node_list.count,
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
    int status;

    for (size_t j = 0; task->visible.is_known && j < task->visible.count; j++)
        json_array_append_new(
            gpus, jsontext(view->look.inventory->gpus[task->visible.gpus[j]].location.pci));
    for (size_t j = 0; j < view->plans[i].count; j++)
        if (is_shown(view, &view->plans[i].variables[j]))
            json_array_append_new(variables, variable_json(&view->plans[i].variables[j]));
    object =
        json_pack("{s:o, s:s, s:o, s:I, s:I, s:o, s:o}", "node", jsontext(view->step.node),
                  "fabric", fabric_class_name(view->node->fabric.class), "reason",
                  jsontext(view->node->fabric.reason), "rank", (json_int_t)task->place.rank,
                  "local_rank", (json_int_t)task->local_rank, "gpus", gpus, "variables", variables);
    status = object ? json_dumpf(object, stdout, JSON_COMPACT) : -1;
    putchar('\n');
    json_decref(object);
    return status;
}

/* ---------------------------------------------------------------- the work */

static int make_plan(const struct view *view, struct explain_task *task, struct envplan *plan)
{
    if (view->step.is_off)
        return envplan_make_off(explain_getenv, task, plan);
    return envplan_make(view->node, &task->place, &task->visible, explain_getenv, task, plan);
}

/* The tasks asked about: one rank, none in particular, or all of the node. */
static int make_plans(struct view *view)
{
    const struct explain_step *step = &view->step;
    bool is_by_hand = view->format == FORMAT_EXPORT && step->rank < 0;
    long first = is_by_hand ? -1 : step->rank >= 0 ? step->rank - step->first_rank : 0;
    size_t wanted = is_by_hand || step->rank >= 0 ? 1 : (size_t)step->local_size;

    view->tasks = calloc(wanted, sizeof *view->tasks);
    view->plans = calloc(wanted, sizeof *view->plans);
    if (!view->tasks || !view->plans)
        return -1;
    for (; view->count < wanted; view->count++) {
        struct explain_task *task = &view->tasks[view->count];

        explain_task_make(step, view->look.inventory, first + (long)view->count, task);
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

    if (explain_step_prepare(&view->step, view->look.inventory, &err) < 0) {
        fprintf(stderr, "%s: %s\n", view->name, err.text);
        return COMMAND_USAGE;
    }
    view->node = malloc(sizeof *view->node);
    if (!view->step.root)
        failed_rails_read(&view->look.conf, &failed);
    if (view->node)
        envplan_node_make(view->look.inventory, &view->look.conf, view->step.node,
                          view->step.nodes ? view->step.nodes : view->step.node, &failed,
                          view->node);
    failed_rails_clear(&failed);
    if (!view->node || make_plans(view) < 0) {
        fprintf(stderr, "%s: out of memory\n", view->name);
        return COMMAND_UNKNOWN;
    }
    if (view->format == FORMAT_TEXT)
        print_text(view);
    else if (view->format == FORMAT_EXPORT)
        print_export(view);
    for (size_t i = 0; i < view->count && view->format == FORMAT_JSON; i++)
        status |= print_json(view, i);
    return status == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;
}

static int read_and_explain(struct view *view)
{
    struct explain_step *step = &view->step;
    int status = command_look_open(view->name, step->root, step->config, &view->look);

    if (status == COMMAND_PASS)
        status = explain(view);
    for (size_t i = 0; i < view->count; i++)
        envplan_clear(&view->plans[i]);
    free(view->plans);
    free(view->tasks);
    free(view->node);
    command_look_close(&view->look);
    explain_step_clear(step);
    return status;
}

/* ---------------------------------------------------------------- options */

enum {
    OPTION_NODE = 256,
    OPTION_NTASKS,
    OPTION_PER_NODE,
    OPTION_PROCID,
    OPTION_GPUS,
    OPTION_PROGRAM,
    OPTION_OFF,
    OPTION_EXPORT,
    OPTION_JOB,
};

static const struct option options[] = {
    {"account", required_argument, NULL, 'A'},
    {"all", no_argument, NULL, 'a'},
    {"config", required_argument, NULL, 'c'},
    {"env", required_argument, NULL, 'e'},
    {"export", no_argument, NULL, OPTION_EXPORT},
    {"gpus", required_argument, NULL, OPTION_GPUS},
    {"help", no_argument, NULL, 'h'},
    {"job", required_argument, NULL, OPTION_JOB},
    {"json", no_argument, NULL, 'j'},
    {"node", required_argument, NULL, OPTION_NODE},
    {"nodes", required_argument, NULL, 'n'},
    {"ntasks", required_argument, NULL, OPTION_NTASKS},
    {"ntasks-per-node", required_argument, NULL, OPTION_PER_NODE},
    {"off", no_argument, NULL, OPTION_OFF},
    {"partition", required_argument, NULL, 'p'},
    {"procid", required_argument, NULL, OPTION_PROCID},
    {"program", required_argument, NULL, OPTION_PROGRAM},
    {"root", required_argument, NULL, 'r'},
    {NULL, 0, NULL, 0},
};

/* Reads text as a number of at least least. Returns 0, or -1
 * with a message printed. */
static int take_number(const char *command, const char *option, const char *text, long least,
                       long *number)
{
    char *end;

    *number = strtol(text, &end, 10);
    if (end != text && *end == '\0' && *number >= least && *number <= INT_MAX)
        return 0;
    fprintf(stderr, "%s: --%s %.64s: expected a number of at least %ld\n", command, option, text,
            least);
    return -1;
}

static int take_job(const char *command, char *text, struct explain_step *step)
{
    char *dot = strchr(text, '.');

    if (dot && take_number(command, "job", dot + 1, 0, &step->step) < 0)
        return -1;
    if (dot)
        *dot = '\0';
    return take_number(command, "job", text, 1, &step->job);
}

static int take_variable(const char *command, char *text, struct explain_step *step)
{
    if (text[0] == '=' || !strchr(text, '=')) {
        fprintf(stderr, "%s: --env %.64s: expected NAME=VALUE\n", command, text);
        return -1;
    }
    if (step->variable_count == EXPLAIN_VARIABLES) {
        fprintf(stderr, "%s: more than %d variables\n", command, EXPLAIN_VARIABLES);
        return -1;
    }
    step->variables[step->variable_count++] = text;
    return 0;
}

static int take_program(const char *command, char *text, struct explain_step *step)
{
    step->word_count = 0;
    for (char *word; (word = strsep(&text, " "));) {
        if (!word[0])
            continue;
        if (step->word_count == EXPLAIN_WORDS) {
            fprintf(stderr, "%s: --program: more than %d words\n", command, EXPLAIN_WORDS);
            return -1;
        }
        step->words[step->word_count++] = word;
    }
    step->words[step->word_count] = NULL;
    return 0;
}

/* Returns 0, or -1 after a message. */
static int take_option(int option, char *text, struct view *view)
{
    struct explain_step *step = &view->step;

    switch (option) {
    case 'A':
        step->account = text;
        return 0;
    case 'a':
        view->is_all = true;
        return 0;
    case 'c':
        step->config = text;
        return 0;
    case 'e':
        return take_variable(view->name, text, step);
    case 'j':
        view->format = FORMAT_JSON;
        return 0;
    case 'n':
        step->nodes = text;
        return 0;
    case 'p':
        step->partition = text;
        return 0;
    case 'r':
        step->root = text;
        return 0;
    case OPTION_EXPORT:
        view->format = FORMAT_EXPORT;
        return 0;
    case OPTION_GPUS:
        step->gpus = text;
        return 0;
    case OPTION_JOB:
        return take_job(view->name, text, step);
    case OPTION_NODE:
        step->node = text;
        return 0;
    case OPTION_NTASKS:
        return take_number(view->name, "ntasks", text, 1, &step->ntasks);
    case OPTION_OFF:
        step->is_off = true;
        return 0;
    case OPTION_PER_NODE:
        return take_number(view->name, "ntasks-per-node", text, 1, &step->ntasks_per_node);
    case OPTION_PROCID:
        return take_number(view->name, "procid", text, 0, &step->rank);
    case OPTION_PROGRAM:
        return take_program(view->name, text, step);
    default:
        return -1;
    }
}

int command_explain(int argc, char **argv)
{
    struct view view = {
        .name = argv[0],
        .step = {.job = 1, .step = 0, .ntasks = -1, .ntasks_per_node = -1, .rank = -1},
    };
    int option;

    while ((option = command_option(argc, argv, "A:ac:e:hjn:p:r:", options)) != -1) {
        if (option == 'h') {
            print_help();
            return COMMAND_PASS;
        }
        if (take_option(option, optarg, &view) < 0)
            return command_usage_error(argv[0]);
    }
    if (optind < argc)
        return command_misuse(argv[0], "what is '%s'? --program names the program", argv[optind]);
    return read_and_explain(&view);
}
