/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/kernel_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

enum { SECOND_US = 1000000 };

void kernel_log_init(struct kernel_log *log, const char *boot_id)
{
    memset(log, 0, sizeof *log);
    snprintf(log->boot_id, sizeof log->boot_id, "%s", boot_id);
}

/* ---------------------------------------------------------------- adding entries */

/* The priority for a slot: first events that drain, then warnings, then faults of programs. */
static int priority(const struct kernel_event *event)
{
    return event->cause == KERNEL_BY_JOB ? KERNEL_IGNORE : (int)event->action;
}

/* Returns a slot for a finding of the event. If none is free, takes the slot of the finding with
 * the lowest priority, of several the oldest, if the event's priority is higher; else NULL. */
static struct kernel_finding *find_slot(struct kernel_log *log, const struct kernel_event *event)
{
    struct kernel_finding *least = NULL;

    if (log->count < KERNEL_FINDINGS)
        return &log->findings[log->count++];
    log->left_out++;
    for (size_t i = 0; i < log->count; i++) {
        struct kernel_finding *finding = &log->findings[i];
        int less = priority(least ? least->event : event) - priority(finding->event);

        if (less > 0 || (less == 0 && least && finding->last_us < least->last_us))
            least = finding;
    }
    return least;
}

static struct kernel_finding *find_finding(struct kernel_log *log, const struct kernel_event *event,
                                           const char *name, const char *part)
{
    struct kernel_finding *finding;

    for (size_t i = 0; i < log->count; i++) {
        finding = &log->findings[i];
        if (strcmp(finding->event->source, event->source) == 0 &&
            strcmp(finding->name, name) == 0 && strcmp(finding->part, part) == 0) {
            return finding;
        }
    }
    finding = find_slot(log, event);
    if (!finding)
        return NULL;
    *finding = (struct kernel_finding){.event = event};
    snprintf(finding->name, sizeof finding->name, "%s", name);
    snprintf(finding->part, sizeof finding->part, "%s", part);
    return finding;
}

/* Whether the blank-separated list has the name. */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

static void remove_ended(struct kernel_log *log, const struct kernel_event *event, const char *part)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i++) {
        const struct kernel_finding *finding = &log->findings[i];

        if (strcmp(finding->event->source, event->source) != 0 ||
            strcmp(finding->part, part) != 0 || !is_listed(event->ends, finding->name))
            log->findings[kept++] = *finding;
    }
    log->count = kept;
}

static void count_burst(struct kernel_finding *finding, int64_t time_us)
{
    const struct kernel_event *event = finding->event;

    if (time_us - finding->window_us > (int64_t)event->within_s * SECOND_US) {
        finding->window_us = time_us;
        finding->window_count = 0;
    }
    finding->window_count++;
    finding->is_burst = finding->is_burst || finding->window_count >= event->times;
}

const struct kernel_finding *kernel_log_add(struct kernel_log *log, const struct kmsg_entry *entry)
{
    char part[KERNEL_PART], name[KERNEL_NAME];
    const struct kernel_event *event = kernel_event_match(entry->text, part, name);
    struct kernel_finding *finding;

    if (!event || entry->facility != 0)
        return NULL;
    if (*event->ends) {
        remove_ended(log, event, part);
        return NULL;
    }
    finding = find_finding(log, event, name, part);
    if (!finding)
        return NULL;
    if (finding->count == 0)
        finding->first_us = finding->window_us = entry->time_us;
    finding->count++;
    finding->last_us = entry->time_us;
    finding->is_drained = false; /* the fault has come back, so it may drain the node again */
    count_burst(finding, entry->time_us);
    if (event->action < finding->event->action)
        return finding; /* of several rows of one name the worst row and its text are kept */
    finding->event = event;
    snprintf(finding->text, sizeof finding->text, "%.*s", (int)sizeof finding->text - 1,
             entry->text);
    return finding;
}

/* ---------------------------------------------------------------- judging */

/* Returns the site's KernelLog line for the finding's event, or NULL. */
static const struct kernel_rule *rule_of(const struct kernel_finding *finding,
                                         const struct conf *conf)
{
    for (size_t i = 0; i < conf->kernel_rule_count; i++)
        if (strcasecmp(conf->kernel_rules[i].source, finding->event->source) == 0 &&
            strcasecmp(conf->kernel_rules[i].name, finding->name) == 0)
            return &conf->kernel_rules[i];
    return NULL;
}

/* Whether another finding of the same part, a fault of the machine, explains the finding. */
static bool is_explained(const struct kernel_log *log, const struct kernel_finding *finding)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct kernel_finding *other = &log->findings[i];

        if (other != finding && !other->event->is_consequence &&
            other->event->cause == KERNEL_BY_MACHINE && strcmp(other->part, finding->part) == 0 &&
            llabs(other->last_us - finding->last_us) <= (int64_t)KERNEL_CONSEQUENCE_S * SECOND_US)
            return true;
    }
    return false;
}

void kernel_log_judge(const struct kernel_log *log, size_t index, const struct conf *conf,
                      int64_t now_us, int64_t repaired_us, struct kernel_judgement *judgement)
{
    const struct kernel_finding *finding = &log->findings[index];
    const struct kernel_event *event = finding->event;
    const struct kernel_rule *rule = rule_of(finding, conf);
    enum kernel_action action = rule ? rule->action : event->action;
    bool is_old = now_us - finding->last_us > (int64_t)KERNEL_COUNTS_S * SECOND_US;
    /* faults of programs are reported separately, unless the site has a line for this one */
    bool is_separate = event->cause == KERNEL_BY_JOB && !rule;

    *judgement = (struct kernel_judgement){
        .finding = finding, .verdict = VERDICT_PASS, .code = FAULT_NONE, .cause = event->cause};
    judgement->is_ignored = action == KERNEL_IGNORE || finding->last_us < repaired_us ||
                            (event->times > 0 && !finding->is_burst) ||
                            (event->is_consequence && is_explained(log, finding));
    if (judgement->is_ignored || is_separate)
        return;
    judgement->verdict = VERDICT_WARN;
    judgement->code = event->code;
    if (action != KERNEL_DRAIN || event->cause != KERNEL_BY_MACHINE || is_old ||
        finding->is_drained)
        return;
    judgement->verdict = VERDICT_FAIL;
    if (catalog_fault(event->code)->drain != DRAIN_HEALTH)
        judgement->code = FAULT_KERNEL_LOG_FAULT;
}

static void describe_age(int64_t age_us, char *text, size_t size)
{
    long long s = age_us > 0 ? age_us / SECOND_US : 0;

    if (s < 120)
        snprintf(text, size, "%lld s ago", s);
    else if (s < 7200)
        snprintf(text, size, "%lld min ago", s / 60);
    else
        snprintf(text, size, "%lld h ago", s / 3600);
}

void kernel_log_describe(const struct kernel_finding *finding, int64_t now_us, char *text,
                         size_t size)
{
    char age[40], count[48];

    describe_age(now_us - finding->last_us, age, sizeof age);
    snprintf(count, sizeof count, "%" PRIu64 " entries, the last ", finding->count);
    text_put(text, size, "%s %s (%s), %s%s%s: %s", finding->event->source, finding->name,
             finding->event->meaning, finding->count > 1 ? count : "", age,
             finding->is_drained ? ", node drained for it" : "", finding->text);
}

size_t kernel_log_mark_drained(struct kernel_log *log, const struct conf *conf, int64_t now_us,
                               int64_t repaired_us)
{
    struct kernel_judgement judgement;
    size_t count = 0;

    for (size_t i = 0; i < log->count; i++) {
        kernel_log_judge(log, i, conf, now_us, repaired_us, &judgement);
        if (judgement.verdict == VERDICT_FAIL) {
            log->findings[i].is_drained = true;
            count++;
        }
    }
    return count;
}

void kernel_log_prune(struct kernel_log *log, int64_t now_us, int64_t repaired_us)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i++)
        if (log->findings[i].last_us >= repaired_us &&
            now_us - log->findings[i].last_us <= (int64_t)KERNEL_KEEP_S * SECOND_US)
            log->findings[kept++] = log->findings[i];
    log->count = kept;
}

/* ---------------------------------------------------------------- the text */

static const char title[] = "muster kernel log 1";

/* Each finding is one line: source, name, part or "-", count, first, last, window, count of the
 * window, burst, drained, and after a blank the text of the last entry. */
int kernel_log_write(const void *what, FILE *stream)
{
    const struct kernel_log *log = what;

    fprintf(stream, "%s\nboot %s\nnext %" PRIu64 "\n", title, log->boot_id, log->next);
    for (size_t i = 0; i < log->count; i++) {
        const struct kernel_finding *finding = &log->findings[i];

        fprintf(stream,
                "%s %s %s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %d %d %s\n",
                finding->event->source, finding->name, *finding->part ? finding->part : "-",
                finding->count, finding->first_us, finding->last_us, finding->window_us,
                finding->window_count, finding->is_burst, finding->is_drained, finding->text);
    }
    return ferror(stream) ? -1 : 0;
}

/* Returns the event that matches the text of the finding; several events may have its name. */
static const struct kernel_event *find_event(const char *source, const char *name, const char *text)
{
    char part[KERNEL_PART], found[KERNEL_NAME];
    const struct kernel_event *event = kernel_event_match(text, part, found);

    if (event && strcmp(event->source, source) == 0 && strcmp(found, name) == 0)
        return event;
    return kernel_event_find(source, name);
}

static int finding_parse(char *line, struct kernel_finding *finding)
{
    char source[KERNEL_NAME];
    int text = -1, is_burst, is_drained;

    *finding = (struct kernel_finding){0};
    if (sscanf(line,
               "%23s %23s %31s %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64
               " %d %d %n",
               source, finding->name, finding->part, &finding->count, &finding->first_us,
               &finding->last_us, &finding->window_us, &finding->window_count, &is_burst,
               &is_drained, &text) != 10 ||
        text < 0)
        return -1;
    if (strcmp(finding->part, "-") == 0)
        *finding->part = '\0';
    finding->is_burst = is_burst != 0;
    finding->is_drained = is_drained != 0;
    snprintf(finding->text, sizeof finding->text, "%s", line + text);
    finding->event = find_event(source, finding->name, finding->text);
    return finding->event ? 0 : -1;
}

int kernel_log_parse(struct kernel_log *log, char *text, const char *boot_id)
{
    char head[128], *line, *rest = text;
    int length = -1;

    kernel_log_init(log, boot_id);
    snprintf(head, sizeof head, "%s\nboot %s\n", title, boot_id);
    if (strncmp(text, head, strlen(head)) != 0)
        return -1;
    rest += strlen(head);
    if (sscanf(rest, "next %" SCNu64 "%n", &log->next, &length) != 1 || rest[length] != '\n') {
        kernel_log_init(log, boot_id);
        return -1;
    }
    rest += length + 1;
    while ((line = strsep(&rest, "\n")) && *line && log->count < KERNEL_FINDINGS)
        if (finding_parse(line, &log->findings[log->count]) == 0)
            log->count++; /* a line of a newer muster is skipped */
    return 0;
}
