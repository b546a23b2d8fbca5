/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

/* KernelLog=SOURCE:EVENT:ACTION, any number of lines. */

/* Lists "nvme, xid, ...": all sources if source is "", else the events of the source. */
static void list_words(const char *source, char *text, size_t size)
{
    *text = '\0';
    for (size_t i = 0; i < kernel_event_count; i++) {
        const struct kernel_event *event = &kernel_events[i];
        const char *word = *source ? event->name : event->source;
        bool is_new = !*source || strcasecmp(event->source, source) == 0;

        for (size_t j = 0; j < i && is_new; j++)
            is_new = strcmp(*source ? kernel_events[j].name : kernel_events[j].source, word) != 0 ||
                     (*source && strcasecmp(kernel_events[j].source, source) != 0);
        if (is_new && *word && strlen(text) + strlen(word) + 2 < size)
            text_join(text, size, ", ", "%s", word);
    }
}

static bool is_code(const char *source)
{
    return strcasecmp(source, "xid") == 0 || strcasecmp(source, "sxid") == 0;
}

static int set_unknown_event(const struct kernel_rule *rule, struct error *err)
{
    char words[300];

    list_words("", words, sizeof words);
    for (size_t i = 0; i < kernel_event_count; i++)
        if (strcasecmp(kernel_events[i].source, rule->source) == 0) {
            if (is_code(rule->source))
                return error_set(err, "found the code \"%s\", allowed 1 to 99999", rule->name);
            list_words(rule->source, words, sizeof words);
            return error_set(err, "found the event \"%s\", allowed of %s are %s", rule->name,
                             rule->source, words);
        }
    return error_set(err, "found the source \"%s\", allowed are %s", rule->source, words);
}

static int rule_parse(const char *value, struct kernel_rule *rule, struct error *err)
{
    const struct kernel_event *event;
    char action[12];
    int length = 0, number;

    if (sscanf(value, "%23[A-Za-z0-9_]:%23[A-Za-z0-9_]:%11[A-Za-z]%n", rule->source, rule->name,
               action, &length) != 3 ||
        value[length])
        return error_set(err, "found \"%.60s\", allowed SOURCE:EVENT:ACTION", value);
    event = kernel_event_find(rule->source, rule->name);
    if (!event || *event->ends)
        return set_unknown_event(rule, err);
    number = kernel_action_parse(action);
    if (number < 0)
        return error_set(err, "found the action \"%s\", allowed ignore, warn, drain", action);
    rule->action = (enum kernel_action)number;
    if (rule->action == KERNEL_DRAIN && event->cause != KERNEL_BY_MACHINE)
        return error_set(err,
                         "found drain for %s:%s, allowed ignore, warn: a job can be the cause, and "
                         "its node is not at fault",
                         event->source, rule->name);
    return 0;
}

int conf_kernel_set(struct conf *conf, const char *value, unsigned line, struct error *err)
{
    struct kernel_rule rule = {.line = line};

    if (rule_parse(value, &rule, err) != 0)
        return -1;
    for (size_t i = 0; i < conf->kernel_rule_count; i++)
        if (strcasecmp(conf->kernel_rules[i].source, rule.source) == 0 &&
            strcasecmp(conf->kernel_rules[i].name, rule.name) == 0)
            return error_set(err, "found %s:%s a second time, first in line %u", rule.source,
                             rule.name, conf->kernel_rules[i].line);
    if (!GROW(conf->kernel_rules, conf->kernel_rule_count))
        return error_set(err, "out of memory");
    conf->kernel_rules[conf->kernel_rule_count++] = rule;
    return 0;
}

void conf_kernel_print(const struct conf *conf, FILE *stream)
{
    for (size_t i = 0; i < conf->kernel_rule_count; i++)
        fprintf(stream, "%s%s:%s:%s", i > 0 ? "\nKernelLog=" : "", conf->kernel_rules[i].source,
                conf->kernel_rules[i].name, kernel_action_name(conf->kernel_rules[i].action));
}
