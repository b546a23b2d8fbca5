/* SPDX-License-Identifier: Apache-2.0 */
/* history-add DATABASE RUN TIME < RECORDS: adds a run to a history as muster certify does. Its
 * nodes are those of the records with suite and test certify. Exit status: 0 added, 1 kept in a
 * file to be added later, 2 lost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/history/history.h"

int main(int argc, char **argv)
{
    struct records records = {0};
    struct history_node *nodes;
    struct error err = {""};
    char *line = NULL;
    size_t size = 0, count = 0;
    int rv;

    if (argc != 4)
        return 2;
    while (getline(&line, &size, stdin) > 0)
        if (records_parse(&records, line) != 0)
            fprintf(stderr, "history-add: no record: %s", line);
    nodes = calloc(records.count + 1, sizeof *nodes);
    for (size_t i = 0; nodes && i < records.count; i++) {
        const struct record *record = RECORD_AT(&records, i);

        if (strcmp(record->suite, "certify") == 0 && strcmp(record->test, "certify") == 0 &&
            record->node && record->verdict != VERDICT_NONE)
            nodes[count++] = (struct history_node){.node = record->node,
                                                   .verdict = record->verdict,
                                                   .part = record->part,
                                                   .message = record->message,
                                                   .rail_mbps = NAN};
    }
    rv = history_add(
        argv[1],
        &(struct history_run){
            .run = argv[2], .cluster = "test", .level = "quick", .time = strtod(argv[3], NULL)},
        nodes, count, &records, 0, &err);
    if (rv != 0)
        fprintf(stderr, "history-add: %s\n", err.text);
    free(nodes);
    free(line);
    records_clear(&records);
    return rv < 0 ? 2 : rv;
}
