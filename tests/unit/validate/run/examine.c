/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/record.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/slurm/step/step.h"

/* Tests the preflight of `muster run` on a node without a directory for files. A script stands
 * in for the preflight. */

static char script[512];

void __wrap_step_add_muster(struct arguments *program, ...)
{
    arguments_add(program, "%s", script);
}

static void put_record(const char *path, const char *node, enum verdict verdict)
{
    struct record record = RECORD(.suite = "preflight", .test = "preflight", .node = node,
                                  .verdict = verdict, .message = "made");
    FILE *stream = fopen(path, "a");

    if (stream) {
        record_write(stream, &record);
        fclose(stream);
    }
}

int main(void)
{
    char *root = tree_unpack(""), records[512], text[2048];
    struct hostlist nodes = {0}, passed = {0}, failed = {0};
    struct error err = {""};

    snprintf(script, sizeof script, "%s/muster", root);
    snprintf(records, sizeof records, "%s/records", root);
    snprintf(text, sizeof text,
             "#!/bin/sh\nfor word; do case $word in --json=*) cat %s >\"${word#--json=}\";; esac; "
             "done\n",
             records);
    tree_put(root, "muster", text);
    chmod(script, 0755);
    put_record(records, "n1", VERDICT_PASS);
    put_record(records, "n2", VERDICT_FAIL);
    hostlist_append(&nodes, "n1");
    hostlist_append(&nodes, "n2");
    setenv("TMPDIR", "/nowhere", 1);
    is_int(examine(&(struct examination){.nodes = &nodes, .level = "quick", .budget_s = 30},
                   &passed, &failed, &err),
           0, "an examination needs no temporary directory (%s)", err.text);
    ok(passed.count == 1 && hostlist_contains(&passed, "n1"), "... n1 passes");
    ok(failed.count == 1 && hostlist_contains(&failed, "n2"), "... n2 fails");
    hostlist_clear(&nodes);
    hostlist_clear(&passed);
    hostlist_clear(&failed);
    tree_remove(root);
    return tap_done();
}
