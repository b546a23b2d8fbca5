/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tap.h"

static char seen[2000];

static void see(const struct history_node *node, void *context)
{
    size_t length = strlen(seen);

    (void)context;
    snprintf(seen + length, sizeof seen - length, "%s %s %s %.0f %s;", node->run, node->node,
             verdict_name(node->verdict), node->time, node->part);
}

static int add(const char *path, const char *run, double time, enum verdict n1, enum verdict n2,
               struct error *err)
{
    struct records records = {0};
    const struct history_node nodes[] = {
        {.node = "n1", .verdict = n1, .part = n1 == VERDICT_FAIL ? "eth1" : "", .rail_mbps = 196},
        {.node = "n2", .verdict = n2, .rail_mbps = NAN}};
    int rv;

    records_parse(&records, "{\"suite\":\"links\",\"test\":\"links\",\"metric\":\"bandwidth\","
                            "\"node\":\"n1\",\"value\":196,\"unit\":\"Mb/s\"}");
    rv = history_add(path, &(struct history_run){.run = run, .time = time, .seconds = 3.5}, nodes,
                     2, &records, err);
    records_clear(&records);
    return rv;
}

int main(void)
{
    char directory[] = "/tmp/muster-history-XXXXXX", path[64], bad[80];
    struct error err = {""};
    FILE *file;

    if (!mkdtemp(directory))
        tap_skip_all("no directory for the database");
    snprintf(path, sizeof path, "%s/history.db", directory);
    is_int(history_nodes(path, NULL, 10, see, NULL, &err), 0, "no database is no history");
    is_int(add(path, "r1", 100, VERDICT_PASS, VERDICT_PASS, &err), 0, "a run is added");
    is_int(add(path, "r2", 200, VERDICT_FAIL, VERDICT_PASS, &err), 0, "another one");
    is_int(add(path, "r3", 300, VERDICT_FAIL, VERDICT_UNKNOWN, &err), 0, "and a third");
    is_int(history_nodes(path, NULL, 10, see, NULL, &err), 2, "two nodes are known");
    is_str(seen, "r3 n1 fail 300 eth1;r3 n2 unknown 300 ;", "each with its newest verdict");
    seen[0] = '\0';
    is_int(history_nodes(path, "n1", 2, see, NULL, &err), 2, "the newest two runs of a node");
    is_str(seen, "r3 n1 fail 300 eth1;r2 n1 fail 200 eth1;", "newest first");
    is_near(history_since(path, "n1", &err), 200, 0, "n1 has failed since the second run");
    is_near(history_since(path, "n2", &err), 300, 0, "n2 is unknown since the third");
    is_near(history_since(path, "n9", &err), 0, 0, "n9 is not known");

    is_int(add(path, "r3", 400, VERDICT_PASS, VERDICT_PASS, &err), -1, "a run's id comes once");
    is_near(history_since(path, "n1", &err), 200, 0, "... and nothing of the second is kept");
    snprintf(bad, sizeof bad, "%s/bad.db", directory);
    file = fopen(bad, "w");
    if (file) {
        fprintf(file, "%04096d", 7);
        fclose(file);
    }
    is_int(add(bad, "r1", 1, VERDICT_PASS, VERDICT_PASS, &err), -1, "a corrupt database is told");
    has_str(err.text, "bad.db: ", "... with its name");
    is_int(history_nodes(bad, NULL, 1, see, NULL, &err), -1, "... also when it is read");
    is_int(add("/dev/null/x/history.db", "r1", 1, VERDICT_PASS, VERDICT_PASS, &err), -1,
           "a place that cannot be written is told");
    snprintf(bad, sizeof bad, "rm -rf %s", directory);
    is_int(system(bad), 0, "cleaned up");
    return tap_done();
}
