/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "tests/unit/tap.h"
#include "validate/command/doctor/doctor.h"

/* Tests which printed findings of nodes muster doctor accepts. */

const struct precondition precondition_table[] = {{.name = "munge", .cure = "start it"}};
const size_t precondition_count = 1;

const struct precondition *precondition_find(const char *name)
{
    return strcmp(name, "munge") == 0 ? precondition_table : NULL;
}

void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour)
{
}

#define LINE(host, found)                                                                          \
    "{\"host\":\"" host "\",\"precondition\":\"munge\",\"state\":\"pass\",\"found\":\"" found      \
    "\",\"time\":1}"

int main(void)
{
    struct findings findings = {0};

    is_int(doctor_take(&findings, "n1", LINE("n1", "it runs"), 1), 0, "a node's own finding");
    is_int(doctor_take(&findings, "n1", LINE("n4", "it runs"), 1), -1,
           "a finding about another node");
    is_int(doctor_take(&findings, "n1", LINE("head", "it runs"), 1), -1, "... about the head");
    is_int(doctor_take(&findings, "n1", "it runs", 1), -1, "... and text that is no finding");
    is_int((long)findings.count, 1, "... are refused");
    is_int(doctor_take(&findings, "n2", LINE("n2", "\\u001b[2J\\u202eit"), 1), 0,
           "a finding with control characters is accepted");
    ok(!strpbrk(findings.items[1].found, "\x1b\xe2"), "... without them: %s",
       findings.items[1].found);
    doctor_clear(&findings);
    return tap_done();
}
