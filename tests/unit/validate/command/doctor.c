/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"

/* Tests the page of muster doctor with the findings of many nodes. */

enum { NODES = 32768, PRECONDITIONS = 16 };

const struct precondition precondition_table[] = {
    {"p0", "cure 0", .sameness = SAME},
    {"p1", "cure 1", .sameness = SAME_ON_NODES},
    {"p2", "cure 2"},
    {"p3"},
    {"p4"},
    {"p5"},
    {"p6"},
    {"p7"},
    {"p8"},
    {"p9"},
    {"p10"},
    {"p11"},
    {"p12"},
    {"p13"},
    {"p14"},
    {"p15"},
};
const size_t precondition_count = PRECONDITIONS;

const struct precondition *precondition_find(const char *name)
{
    (void)name;
    return NULL;
}

void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour)
{
    (void)has_colour;
    fputs(verdict_name(verdict), stream);
}

int main(void)
{
    struct findings findings = {0};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const struct rlimit most = {60, 60}; /* seconds of processor: 0.6 are needed */

    setrlimit(RLIMIT_CPU, &most); /* comparing each two findings would end the program */
    for (int k = 0; k < 2; k++)
        doctor_add(&findings, "head", precondition_table[k].name, VERDICT_PASS, "other");
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < PRECONDITIONS; k++)
            doctor_add(&findings, text_line("n%d", i).text, precondition_table[k].name,
                       VERDICT_PASS, k == 2 ? text_line("%d of it", i).text : "same");
    doctor_compare(&findings);
    doctor_print(stream, &findings, false);
    fclose(stream);
    is_str(findings.items[0].found, "other; elsewhere: same", "a head that differs");
    is_int(findings.items[0].verdict, VERDICT_FAIL, "... fails");
    is_int(findings.items[1].verdict, VERDICT_WARN, "... or is only a warning");
    ok(strstr(text, "p0             n[0-32767]: same\n"), "nodes that are alike are in one line");
    ok(strstr(text, "cure: cure 0\n"), "a cure for what fails");
    ok(strstr(text, "p2             n32767: 32767 of it\n"), "... each other one in its own");
    doctor_clear(&findings);
    free(text);
    return tap_done();
}
