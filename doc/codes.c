/* SPDX-License-Identifier: Apache-2.0 */
/* Prints muster-codes(7) from the catalog. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/catalog/catalog.h"
#include "lib/catalog/kernel_event.h"

static const char head[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".\\\" made by doc/codes.c from lib/catalog\n"
    ".TH MUSTER\\-CODES 7 2026-11-20 \"muster 0.1\"\n"
    ".SH NAME\n"
    "muster\\-codes \\- fault codes, tests and metrics of muster\n"
    ".SH DESCRIPTION\n"
    "A record of\n"
    ".BR muster (1)\n"
    "whose verdict is warn, unknown or fail has a fault code, and a remediation: what to do "
    "first,\n"
    "in one word. Programs decide by these; the message is for people and may change.\n"
    "A newer muster may have codes that a reader does not know.\n";

static const char reasons[] =
    ".SH DRAIN REASONS\n"
    "A node that muster drained has a reason in Slurm of this form:\n"
    ".PP\n"
    ".EX\n"
    "muster: CODE PART MESSAGE[; CODE PART MESSAGE]... DATE\n"
    ".EE\n"
    ".PP\n"
    "PART is one word: a blank in it is written as +, and \\- stands for the node as a whole.\n"
    "The worst fault is first. MESSAGE is for people, may be cut after a word, and has no "
    "semicolon.\n"
    "DATE is that of the drain, as 2026\\-11\\-20.\n"
    ".PP\n"
    ".EX\n"
    "muster: rail_slow eth1 98 of 940 Mb/s; gpu_missing gpu 7 GPUs on the PCI bus 2026\\-11\\-20\n"
    ".EE\n"
    ".PP\n"
    "muster takes every reason that begins with \"muster:\" for its own. It changes no other "
    "reason,\n"
    "except \"Prolog error\" after a refusal of its own gate.\n";

static void text_print(const char *text)
{
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
}

static void faults_print(void)
{
    static const char *const drains[] = {
        [DRAIN_NEVER] = "",
        [DRAIN_CERTIFY] = ", drains (certify)",
        [DRAIN_HEALTH] = ", drains (certify, check \\-\\-health)",
    };

    printf(".SH FAULT CODES\n"
           "Each code has its usual verdict, who drains a node that fails by it, and its "
           "remediation.\n"
           "A node that fails only by codes that drain no node is not certified, loses its\n"
           "certificate, and stays in service.\n");
    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++) {
        const struct catalog_fault *fault = catalog_fault((enum fault_code)code);

        printf(".TP\n.B %s\n%s%s, %s: ", fault->name, verdict_name(fault->severity),
               drains[fault->drain], catalog_remediation(fault->remediation));
        text_print(fault->meaning);
        printf(".\n");
        text_print(fault->advice);
        printf("\n");
    }
}

static void remediations_print(void)
{
    printf(".SH REMEDIATIONS\n");
    for (int i = REMEDY_NONE + 1; i < REMEDY_COUNT; i++)
        printf("%s%s", i > REMEDY_NONE + 1 ? ",\n" : "", catalog_remediation((enum remediation)i));
    printf(".\n");
}

static void tests_print(void)
{
    printf(".SH TESTS\n");
    for (size_t i = 0; i < CATALOG_TESTS; i++) {
        printf(".TP\n.B %s\n", catalog_tests[i].name);
        text_print(catalog_tests[i].help);
        printf("\n");
    }
}

static void metrics_print(void)
{
    printf(".SH METRICS\nA metric without a unit has a text as its message.\n");
    for (size_t i = 0; i < CATALOG_METRICS; i++) {
        const struct catalog_metric *metric = &catalog_metrics[i];

        printf(".TP\n.B %s", metric->name);
        if (*metric->unit)
            printf(" \\fR(%s)", metric->unit);
        printf("\n");
        text_print(metric->help);
        if (metric->why) {
            printf("; when it differs: ");
            text_print(metric->why);
        }
        printf("\n");
    }
}

/* Rows of one name one after another are of one event, and told once where they say the same. */
static bool is_told(const struct kernel_event *event)
{
    for (const struct kernel_event *other = kernel_events; other < event; other++)
        if (strcmp(other->source, event->source) == 0 && strcmp(other->name, event->name) == 0 &&
            other->action == event->action && strcmp(other->meaning, event->meaning) == 0)
            return true;
    return false;
}

static void kernel_events_print(void)
{
    static const char *const causes[] = {
        [KERNEL_BY_MACHINE] = "",
        [KERNEL_BY_EITHER] = ", may be caused by a job",
        [KERNEL_BY_JOB] = ", a fault of a job's program",
    };

    printf(".SH KERNEL LOG\n"
           "The events that\n.B host.log\n"
           "finds in the kernel's log. Each has its source, its name, its consequence and its "
           "fault code; in parentheses stands who states this consequence, or where the text is "
           "from.\n"
           "The codes of NVIDIA are those of its Xid catalog and of appendix D of the Fabric "
           "Manager User Guide.\n"
           ".B KernelLog\n"
           "in\n.BR muster.conf (5)\n"
           "changes the consequence of an event, but an event that a job can cause never drains "
           "a node.\n");
    for (size_t i = 0; i < kernel_event_count; i++) {
        const struct kernel_event *event = &kernel_events[i];

        if (is_told(event))
            continue;
        printf(".TP\n.B %s:%s\n", event->source, *event->name ? event->name : "\\fINUMBER\\fP");
        if (*event->ends)
            printf("ends %s", event->ends);
        else
            printf("%s%s, %s", kernel_action_name(event->action), causes[event->cause],
                   catalog_fault(event->code)->name);
        if (event->times > 0)
            printf(", from %u in %u s on", event->times, event->within_s);
        printf(" (");
        text_print(event->reference);
        printf("): ");
        text_print(event->meaning);
        printf(".\n");
    }
}

int main(void)
{
    fputs(head, stdout);
    fputs(reasons, stdout);
    faults_print();
    remediations_print();
    kernel_events_print();
    tests_print();
    metrics_print();
    printf(".SH SEE ALSO\n.BR muster (1),\n.BR muster.conf (5)\n");
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
