/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "lib/conf/conf.h"
#include "lib/netif/netif_apply.h"
#include "validate/command/command.h"
#include "validate/report/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/constants/command_constants.h"

struct options {
    const char *config;
    bool as_json, is_apply, is_plan, is_restore;
    long job; /* -1: not given */
};

static const struct option_row rows[] = {
    OPTION('a', "apply", NULL, "apply the settings as a job's prolog does, until --restore", FLAG,
           OPTION_FIELD(struct options, is_apply)),
    COMMAND_CONFIG(struct options),
    OPTION('J', "job", "ID", "with --restore: only settings not held by another job", LONG,
           OPTION_FIELD(struct options, job), OPTION_RANGE(0, UINT32_MAX)),
    COMMAND_JSON(struct options),
    OPTION('p', "plan", NULL, "show the settings, change nothing; the default", FLAG,
           OPTION_FIELD(struct options, is_plan)),
    OPTION('r', "restore", NULL, "restore the earlier settings, even if jobs still hold them", FLAG,
           OPTION_FIELD(struct options, is_restore)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster interfaces",
    .summary =
        "Prints the settings that the Interface lines of muster.conf(5) require on this node, the "
        "current settings, and those to restore after the jobs that hold them end.",
    .status = "0 good, 1 a setting could not be applied or restored, 2 usage, 3 cannot tell.",
    .rows = rows,
};

/* ---------------------------------------------------------------- what is shown */

struct show {
    const struct options *options;
    struct table table;
    bool is_journal; /* shows the values set and before, not the values wanted and found */
    bool is_unknown, is_failed;
};

static void report(struct show *show, const char *interface, const char *setting,
                   const char *wanted, const char *found, enum verdict verdict, const char *state)
{
    if (verdict == VERDICT_UNKNOWN)
        show->is_unknown = true;
    if (verdict == VERDICT_FAIL)
        show->is_failed = true;
    if (!show->options->as_json)
        table_cells(&show->table, "%s\t%s\t%s\t%s\t%s", interface, setting, wanted, found, state);
    else
        record_put(stdout,
                   RECORD(.suite = "interfaces", .test = "interfaces", .part = interface,
                          .verdict = verdict),
                   "%s: %s: %s %s, %s %s; %s", interface, setting,
                   show->is_journal ? "made" : "wanted", wanted,
                   show->is_journal ? "before" : "found", found, state);
}

static void show_address(struct show *show, const struct netif_machine *machine,
                         const struct netif_line *line, const char *interface, int index)
{
    struct error err = {""};
    const struct {
        const char *state, *found;
        enum verdict verdict;
    } answers[] = {{err.text, "?", VERDICT_UNKNOWN},
                   {"is missing,", "no", VERDICT_FAIL},
                   {"is so,", "yes", VERDICT_PASS}};
    int status = machine->has_address(machine->context, index, line->address, &err);
    char state[600];

    snprintf(state, sizeof state, "%s line %u", answers[status + 1].state, line->line);
    report(show, interface, netif_setting_name(NETIF_ADDRESS), line->address,
           answers[status + 1].found, answers[status + 1].verdict, state);
}

static void show_setting(struct show *show, const struct netif_machine *machine,
                         const struct netif_line *line, const char *interface, int index,
                         enum netif_setting setting)
{
    long wanted = line->values[setting], found = 0;
    char wanted_text[32], found_text[32] = "?", state[600];
    enum verdict verdict = VERDICT_NONE;
    struct error err = {""};

    netif_value_format(setting, wanted, wanted_text, sizeof wanted_text);
    if (machine->get(machine->context, interface, index, setting, &found, &err) != 0) {
        verdict = VERDICT_UNKNOWN;
        snprintf(state, sizeof state, "%s, line %u", err.text, line->line);
    } else {
        netif_value_format(setting, found, found_text, sizeof found_text);
        if (machine->effective(machine->context, setting, wanted) != wanted) {
            verdict = VERDICT_FAIL;
            snprintf(state, sizeof state,
                     "would have no effect: net.ipv4.conf.all.%s is %ld, line %u",
                     netif_setting_name(setting),
                     machine->effective(machine->context, setting, wanted), line->line);
        } else {
            verdict = found == wanted ? VERDICT_PASS : VERDICT_NONE;
            snprintf(state, sizeof state, "%s line %u",
                     found == wanted ? "is so," : "made for jobs,", line->line);
        }
    }
    report(show, interface, netif_setting_name(setting), wanted_text, found_text, verdict, state);
}

static void show_line(struct show *show, const struct netif_machine *machine,
                      const struct netif_line *line)
{
    for (size_t i = 0; i < line->interfaces.count; i++) {
        const char *interface = line->interfaces.names[i];
        char name[NETIF_NAME], state[600];
        struct error err = {""};
        int index = 0;
        int status = machine->find(machine->context, interface, &index, name, &err);

        if (status != 0) {
            snprintf(state, sizeof state, "%s, line %u",
                     status > 0 ? "is not on this node" : err.text, line->line);
            report(show, interface, "-", "-", "-", status > 0 ? VERDICT_FAIL : VERDICT_UNKNOWN,
                   state);
            continue;
        }
        for (int setting = 0; setting < NETIF_ADDRESS; setting++)
            if (line->given[setting])
                show_setting(show, machine, line, interface, index, (enum netif_setting)setting);
        if (line->given[NETIF_ADDRESS])
            show_address(show, machine, line, interface, index);
    }
}

/* Lists as many of the jobs as fit, and the number of the others. */
static void holders_text(const struct netif_entry *entry, char *text, size_t size)
{
    snprintf(text, size, "held by job%s", entry->job_count > 1 ? "s" : "");
    for (size_t i = 0; i < entry->job_count; i++) {
        if (strlen(text) + 48 > size) {
            text_join(text, size, " ", "and %zu more", entry->job_count - i);
            return;
        }
        text_join(text, size, i ? ", " : " ", "%u%s", (unsigned)entry->jobs[i],
                  entry->jobs[i] ? "" : " (--apply)");
    }
}

static void show_entry(struct show *show, const struct netif_entry *entry, bool is_this_boot)
{
    char was[32], made[32], state[200];

    netif_value_format(entry->setting, entry->was, was, sizeof was);
    netif_value_format(entry->setting, entry->set[entry->set_count - 1], made, sizeof made);
    if (!is_this_boot)
        snprintf(state, sizeof state, "from an earlier boot: nothing to restore");
    else if (entry->job_count == 0)
        snprintf(state, sizeof state, "will be restored with the next job");
    else
        holders_text(entry, state, sizeof state);
    report(show, entry->interface, netif_setting_name(entry->setting), made, was, VERDICT_NONE,
           state);
}

static int plan(const struct options *options, const struct conf *conf,
                const struct netif_machine *machine)
{
    struct netif_journal journal;
    struct show show = {.options = options};
    struct error err;
    bool is_hidden;
    int status;

    table_heading(&show.table, "INTERFACE\tSETTING\tWANTED\tFOUND\tSTATE");
    for (size_t i = 0; i < conf->netif_line_count; i++)
        show_line(&show, machine, &conf->netif_lines[i]);
    if (conf->netif_line_count == 0 && !options->as_json)
        table_cells(&show.table, "-\t-\t-\t-\tmuster.conf has no Interface line");
    /* a rename() replaces the whole file, so reading needs no lock */
    status = journal_load(conf->interface_journal, &journal, &err);
    is_hidden = status < 0 && geteuid() != 0;
    if (is_hidden) {
        status = 0;
    } else if (status == 0) {
        if (!options->as_json)
            table_cells(&show.table, "\t\t\t\t\tINTERFACE\tSETTING\tMADE\tBEFORE\tSTATE");
        show.is_journal = true;
        for (size_t i = 0; i < journal.count; i++)
            show_entry(&show, &journal.entries[i], strcmp(journal.boot_id, machine->boot_id) == 0);
    }
    table_end(&show.table, stdout, "");
    if (is_hidden && !options->as_json)
        puts("\nOnly root sees the settings to restore.");
    journal_clear(&journal);
    if (status < 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "%s", err.text);
    return show.is_failed ? COMMAND_FAIL : show.is_unknown ? COMMAND_UNKNOWN : COMMAND_PASS;
}

/* ---------------------------------------------------------------- what is done */

static void print_message(const struct options *options, enum verdict verdict, const char *message)
{
    if (options->as_json)
        record_put(stdout, RECORD(.suite = "interfaces", .test = "interfaces", .verdict = verdict),
                   "%s", message);
    else
        puts(message);
}

static int act(const struct options *options, const struct conf *conf,
               const struct netif_machine *machine)
{
    struct netif_report *report = calloc(1, sizeof *report);
    char message[128];
    bool is_bad;

    if (!report)
        return command_failed(COMMAND_UNKNOWN, set.name, "out of memory");
    if (options->is_apply)
        netif_apply(conf->interface_journal, INTERFACES_LOCK_MS, machine, conf->netif_lines,
                    conf->netif_line_count, 0, report);
    else
        netif_restore(conf->interface_journal, INTERFACES_LOCK_MS, machine,
                      options->job >= 0 ? RESTORE_JOB : RESTORE_ALL, (uint32_t)options->job,
                      report);
    is_bad = report->failed > 0 || report->left > 0;
    for (size_t i = 0; i < report->line_count; i++)
        print_message(options, report->lines[i].kind == LINE_INFO ? VERDICT_NONE : VERDICT_FAIL,
                      report->lines[i].text);
    if (report->left_out > 0) {
        snprintf(message, sizeof message, "%u more lines", report->left_out);
        print_message(options, VERDICT_NONE, message);
    }
    snprintf(message, sizeof message, "%u settings applied, %u restored, %u failed", report->made,
             report->restored, report->failed + report->left);
    print_message(options, is_bad ? VERDICT_FAIL : VERDICT_PASS, message);
    free(report);
    return is_bad ? COMMAND_FAIL : COMMAND_PASS;
}

static int run(const struct options *options, const struct conf *conf)
{
    bool is_change = options->is_apply || options->is_restore;
    struct netif_machine machine;
    struct error err;
    int status;

    if (is_change && geteuid() != 0)
        return command_misuse(set.name, "changing interfaces needs root");
    if (netif_machine_open(&machine, "", &err) != 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "%s", err.text);
    status = (is_change ? act : plan)(options, conf, &machine);
    netif_machine_close(&machine);
    return status;
}

int command_interfaces(int argc, char **argv)
{
    struct options options = {.job = -1};
    struct conf conf;
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    if (options.is_apply + options.is_plan + options.is_restore > 1)
        return command_misuse(argv[0], "--plan, --apply and --restore are mutually exclusive");
    if (options.job >= 0 && !options.is_restore)
        return command_misuse(argv[0], "--job needs --restore");
    status = command_conf(argv[0], options.config, &conf);
    if (status == COMMAND_PASS)
        status = run(&options, &conf);
    conf_clear(&conf);
    return status;
}
