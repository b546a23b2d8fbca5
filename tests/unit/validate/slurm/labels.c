/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/step/labels.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/tap.h"

static struct labels labels;

static void check_line(const char *line, long task, const char *text, const char *what)
{
    const char *found;

    is_int(labels_parse(&labels, line, &found), task, "%s", what);
    if (text)
        is_str(found, text, "... with its text");
    else
        ok(!found, "... and the line continues");
}

/* Makes one piece of a long line as slurmstepd forwards it. srun labels each piece. */
static void make_piece(char *line, size_t size, int task, char letter, size_t length)
{
    int label = snprintf(line, size, "%2d: ", task);

    memset(line + label, letter, length);
    line[(size_t)label + length] = '\0';
}

int main(void)
{
    struct hostlist nodes;
    static char line[LABELS_PIECE + 16], other[LABELS_PIECE + 16];
    const char *found;

    hostlist_expand("n[1-12]", &nodes, NULL);
    is_int(labels_make(&nodes, &labels), 0, "twelve tasks");
    check_line(" 0: {\"a\":1}", 0, "{\"a\":1}", "a line of the first task");
    check_line("11: x", 11, "x", "a line of the last task");
    check_line("12: x", -1, "12: x", "a line of no task");
    check_line("srun: x", -1, "srun: x", "a line of srun itself");
    check_line("", -1, "", "an empty line");
    check_line(" 3: 0: x", 3, "0: x", "a label inside a task's line is text");
    is_int(labels_split(&labels, " 7: why", &found), 7, "a line has its task");
    is_str(found, "why", "... and its text after the label");
    is_int(labels_split(&labels, "srun: error: x", &found), -1, "a line of srun has no task");
    is_str(found, "srun: error: x", "... and its text is the whole line");

    make_piece(line, sizeof line, 4, 'a', LABELS_PIECE);
    make_piece(other, sizeof other, 5, 'b', LABELS_PIECE);
    check_line(line, -1, NULL, "the first piece of a long line");
    check_line(other, -1, NULL, "... one of another task");
    check_line(line, -1, NULL, "... the second piece");
    check_line(" 6: z", 6, "z", "... a short line in between");
    is_int(labels_parse(&labels, " 4: end", &found), 4, "... the last piece");
    is_int((long)strlen(found), 2 * LABELS_PIECE + 3, "... form one line");
    ok(strspn(found, "a") == 2 * LABELS_PIECE && strcmp(found + 2 * LABELS_PIECE, "end") == 0,
       "... of this task only");
    check_line(" 4: next", 4, "next", "... and the next line is complete");
    for (int i = 0; i < 200; i++)
        labels_parse(&labels, other, &found);
    is_int(labels_parse(&labels, " 5: end", &found), 5, "a line that never ends");
    is_int((long)strlen(found), LABELS_LINE_MOST, "... is cut");
    labels_clear(&labels);
    hostlist_clear(&nodes);
    return tap_done();
}
