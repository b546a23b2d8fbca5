/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/plan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"

static struct cluster_node idle_node(void)
{
    static char name[] = "n1", empty[] = "";

    return (struct cluster_node){.name = name,
                                 .address = name,
                                 .gres = empty,
                                 .reason = empty,
                                 .is_idle = true,
                                 .is_responding = true,
                                 .state = "idle"};
}

static void check_role(const struct cluster_node *node, bool is_dry_run, enum plan_role role,
                       const char *part, const char *expected_text, const char *what)
{
    struct plan plan;

    plan_node(node, is_dry_run, false, &plan);
    is_int(plan.role, role, "%s", what);
    is_str(plan.part, part, "... part '%s'", part);
    has_str(plan.message, expected_text, "... says '%s'", expected_text);
}

/* A failed prolog may come from muster's own gate. Only the node knows. */
static void test_failed_prologs(void)
{
    struct cluster_node node = idle_node();
    char prolog[] = "Prolog error", epilog[] = "Epilog error";
    struct plan plan;

    node.is_drained = true;
    node.reason = prolog;
    plan_node(&node, false, false, &plan);
    is_int(plan.role, ROLE_FAULTY, "a failed prolog is Slurm's drain, unless -w names the node");
    ok(!plan.needs_gate_refusal, "... then no gate refusal is needed");
    plan_node(&node, false, true, &plan);
    is_int(plan.role, ROLE_RETEST, "a node named with -w is tested again");
    ok(plan.needs_gate_refusal, "... and is released only if its gate's note explains the drain");
    plan_node(&node, true, true, &plan);
    is_int(plan.role, ROLE_SKIP, "... but not in a dry run");
    node.is_allocated = true;
    plan_node(&node, false, true, &plan);
    is_int(plan.role, ROLE_SKIP, "... and not while jobs run there");
    node.is_allocated = false;
    node.is_reserved = true;
    plan_node(&node, false, true, &plan);
    is_int(plan.role, ROLE_SKIP, "... nor while somebody else has it reserved");
    node.is_reserved = false;
    node.is_down = true;
    plan_node(&node, false, true, &plan);
    is_int(plan.role, ROLE_FAULTY, "... and not if the node is down as well");
    node.is_down = false;
    node.reason = epilog;
    plan_node(&node, false, true, &plan);
    is_int(plan.role, ROLE_FAULTY, "... nor if its epilog failed");
}

/* No job starts beside one that is stuck at its end. */
static void test_completing_jobs(void)
{
    char muster_reason[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20",
         silent[] = "Not responding";
    struct cluster_node node = idle_node();

    node.is_completing = true;
    check_role(&node, false, ROLE_SKIP, "", "still completing", "a node with a completing job");
    node.is_drained = true;
    node.reason = muster_reason;
    check_role(&node, false, ROLE_SKIP, "", "still completing", "... also if muster drained it");
    node.is_responding = false;
    check_role(&node, false, ROLE_RETEST, "", "", "... unless it is silent: reach decides");
    node.is_responding = true;
    node.is_down = true;
    check_role(&node, false, ROLE_RETEST, "", "", "... or down");
    node.reason = silent;
    check_role(&node, false, ROLE_FAULTY, "slurmd", "by Slurm: Not responding",
               "a node that Slurm set down is faulty, whatever completes there");
}

static void test_roles(void)
{
    struct cluster_node node = idle_node();
    char muster_reason[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20",
         admin_reason[] = "replace PSU",
         gres[] = "gres/gpu count reported lower than configured (7 < 8)",
         silent[] = "Not responding", memory[] = "Low RealMemory";

    check_role(&node, false, ROLE_TEST, "", "", "an idle node is tested");
    node.is_responding = false;
    check_role(&node, false, ROLE_TEST, "", "",
               "a node that does not respond to the controller is tested: reach decides");
    node = idle_node();
    node.is_allocated = true;
    check_role(&node, false, ROLE_SKIP, "", "jobs run there", "a node with jobs is left alone");
    node = idle_node();
    node.is_drained = true;
    node.reason = muster_reason;
    check_role(&node, false, ROLE_RETEST, "", "", "a node that muster drained is tested again");
    check_role(&node, true, ROLE_SKIP, "", "dry run", "... but not in a dry run");
    node.is_allocated = true;
    check_role(&node, false, ROLE_SKIP, "", "jobs run there", "... and not while jobs run there");
    node.is_allocated = false;
    node.is_down = true;
    check_role(&node, false, ROLE_RETEST, "", "", "... but also if it is down as well");
    node.is_down = false;
    node.is_reserved = true;
    check_role(&node, false, ROLE_SKIP, "", "it is in a reservation",
               "... and not while somebody else has it reserved, as for maintenance");
    node.is_reserved = false;
    node.reserved_at = time(NULL) + 600;
    check_role(&node, false, ROLE_SKIP, "", "begins there within the hour",
               "... nor if such a reservation begins soon");
    node.reserved_at = 0;
    node.is_invalid = true;
    check_role(&node, false, ROLE_FAULTY, "node", "refuses its registration",
               "... and is named if Slurm would refuse to resume it");
    node.is_invalid = false;
    node.reason = admin_reason;
    check_role(&node, false, ROLE_SKIP, "", "replace PSU",
               "a node that somebody else drained is left alone");
    node.reason = idle_node().reason;
    check_role(&node, false, ROLE_SKIP, "", "no reason given",
               "... and so is one without a reason");
    node.reason = gres;
    check_role(&node, false, ROLE_FAULTY, "gres", "7 < 8",
               "a node that Slurm drained for a fault is named");
    node.reason = silent;
    node.is_drained = false;
    node.is_down = true;
    check_role(&node, false, ROLE_FAULTY, "slurmd", "Not responding",
               "... and so is a node that Slurm set down");
    node.reason = admin_reason;
    check_role(&node, false, ROLE_SKIP, "", "replace PSU",
               "a node that a person set down is left alone");
    node.reason = idle_node().reason;
    check_role(&node, false, ROLE_FAULTY, "slurmd", "by Slurm",
               "a node that is down without a reason was set down by Slurm");
    node = idle_node();
    node.is_invalid = true;
    node.reason = memory;
    check_role(&node, false, ROLE_FAULTY, "memory", "Low RealMemory",
               "a node with an invalid registration is named, too");
    node = idle_node();
    node.is_reserved = true;
    check_role(&node, false, ROLE_SKIP, "", "reservation", "a reserved node is left alone");
    node = idle_node();
    node.reserved_at = time(NULL) + 600;
    check_role(&node, false, ROLE_SKIP, "", "begins there within the hour",
               "... and one whose reservation begins soon");
    node = idle_node();
    node.is_waiting = true;
    check_role(&node, false, ROLE_TEST, "", "", "a node that waits for its certificate is tested");
    check_role(&node, true, ROLE_SKIP, "", "reservation muster", "... but not in a dry run");
    node.is_reserved = true;
    check_role(&node, false, ROLE_SKIP, "", "reservation",
               "... nor if it is in another reservation, too");
    node = idle_node();
    node.is_absent = true;
    check_role(&node, false, ROLE_SKIP, "", "left alone",
               "a node that is powered down is left alone");
    node = idle_node();
    node.is_idle = false;
    check_role(&node, false, ROLE_SKIP, "", "its state",
               "a node in an unknown state is left alone");
    node = idle_node();
    node.is_completing = true;
    check_role(&node, false, ROLE_SKIP, "", "a job is still completing",
               "a node is left alone while a job completes there");
}

static void elsewhere_add(const struct cluster_partition *partition, const struct hostlist *nodes,
                          void *context)
{
    char *folded = hostlist_fold(nodes), *listed = context;
    text_join(listed, 100, "", "%s=%s;", partition ? partition->name : "none", folded);
    free(folded);
}

static void check_elsewhere(const struct cluster *cluster, const char *names, const char *expected)
{
    struct hostlist list;
    char listed[100] = "";

    hostlist_expand(names, &list, NULL);
    is_int(plan_report_partitions(cluster, &list, elsewhere_add, listed), 0, "where \"%s\" are",
           names);
    is_str(listed, expected, "... \"%s\"", expected);
    hostlist_clear(&list);
}

/* A node in several partitions is listed once. */
static void test_elsewhere(void)
{
    char gpu[] = "gpu", big[] = "big", off[] = "off", all[] = "all";
    struct cluster_partition list[4] = {
        {.name = gpu, .is_up = true}, {.name = big, .is_up = true}, {.name = off}, {.name = all}};
    struct cluster cluster = {.partitions = list, .partition_count = 4};

    hostlist_expand("g[1-2],c3", &list[0].nodes, NULL);
    hostlist_expand("c[1-4]", &list[1].nodes, NULL);
    hostlist_expand("x1,g1", &list[2].nodes, NULL);
    check_elsewhere(&cluster, "", "");
    check_elsewhere(&cluster, "g1", "gpu=g1;");
    check_elsewhere(&cluster, "x1,g1,c[1-3],g2", "gpu=c3,g[1-2];big=c[1-2];none=x1;");
    check_elsewhere(&cluster, "c[1-4],g[1-2]", "big=c[1-4];gpu=g[1-2];");
    check_elsewhere(&cluster, "x1,y9", "none=x1,y9;");
    hostlist_expand("c[1-4],g[1-2],x1", &list[3].nodes, NULL);
    list[3].is_up = true;
    check_elsewhere(&cluster, "g1,c1,x1", "all=c1,g1,x1;");
    for (int i = 0; i < 4; i++)
        hostlist_clear(&list[i].nodes);
}

static void test_partitions(void)
{
    char gpu[] = "gpu", all[] = "all", off[] = "off";
    struct cluster_partition list[3] = {{.name = gpu, .is_up = true},
                                        {.name = all, .is_up = true, .is_default = true},
                                        {.name = off}};
    struct cluster cluster = {.partitions = list, .partition_count = 3};
    const char *names[] = {"n1", "n2", "n3"};

    hostlist_expand("n[1-2]", &list[0].nodes, NULL);
    hostlist_expand("n[1-2,9]", &list[1].nodes, NULL);
    hostlist_expand("n[1-3]", &list[2].nodes, NULL);
    is_str(plan_partition(&cluster, NULL, names, 2)->name, "all",
           "of partitions with the same nodes the default one is used");
    is_str(plan_partition(&cluster, "off", names, 2)->name, "off", "a requested partition is used");
    ok(!plan_partition(&cluster, "none", names, 2),
       "a requested partition that is missing gives none");
    ok(!plan_partition(&cluster, NULL, names + 2, 1), "a partition that is down gives none");
    list[1].is_closed = true;
    is_str(plan_partition(&cluster, NULL, names, 2)->name, "gpu",
           "a partition that accepts no jobs is not used");
    for (int i = 0; i < 3; i++)
        hostlist_clear(&list[i].nodes);
}

static void test_many_nodes(void)
{
    enum { PARTITIONS = 16, NODES = 16384 };
    static char name[] = "p";
    static struct cluster_partition list[PARTITIONS];
    struct cluster cluster = {.partitions = list, .partition_count = PARTITIONS};
    struct hostlist names;
    clock_t begin = clock();
    double cpu_s;

    hostlist_expand("n[1-16384]", &names, NULL);
    for (int i = 0; i < PARTITIONS; i++) {
        list[i] = (struct cluster_partition){.name = name, .is_up = true, .is_default = i == 7};
        hostlist_expand("n[1-16384]", &list[i].nodes, NULL);
    }
    ok(plan_partition(&cluster, NULL, (const char *const *)names.names, names.count) == &list[7],
       "%d partitions of %d nodes", PARTITIONS, NODES);
    cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ok(cpu_s < 1, "... take less than a second of processor time (%.3f s)", cpu_s);
    for (int i = 0; i < PARTITIONS; i++)
        hostlist_clear(&list[i].nodes);
    hostlist_clear(&names);
}

/* A node that a cloud has not created yet has no fault. */
static void test_clouds(void)
{
    struct cluster_node node = idle_node();
    char late[] = "ResumeTimeout reached";

    node.is_absent = node.is_cloud = true;
    strcpy(node.state, "powered down");
    check_role(&node, false, ROLE_SKIP, "", "left alone: powered down",
               "a node that is powered down");
    node.is_absent = false;
    node.is_down = true;
    node.reason = late;
    strcpy(node.state, "down");
    check_role(&node, false, ROLE_SKIP, "", "its cloud did not start it in time",
               "a cloud's node that was not started in time");
    node.is_cloud = false;
    check_role(&node, false, ROLE_FAULTY, "node", "ResumeTimeout",
               "a node of the site that did not start");
}

/* A name that was cut could be that of another node. */
static void test_long_names(void)
{
    struct cluster_node node = idle_node();
    char name[65];

    memset(name, 'n', 64);
    name[64] = '\0';
    node.name = name;
    check_role(&node, false, ROLE_SKIP, "", "its name is longer than 63 characters",
               "a name of 64 characters is not tested");
    node.name++;
    check_role(&node, false, ROLE_TEST, "", "", "... one of 63 is");
}

int main(void)
{
    test_long_names();
    test_clouds();
    test_completing_jobs();
    test_roles();
    test_failed_prologs();
    test_partitions();
    test_elsewhere();
    test_many_nodes();
    return tap_done();
}
