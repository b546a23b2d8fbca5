/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/majority.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct fact_table table;
static struct groups groups;
static struct golden golden;
static struct deviation *deviations;
static char text[512];

static int compare(const struct fact *facts, size_t count, const struct node_class *classes,
                   size_t class_count)
{
    free(deviations);
    groups_clear(&groups);
    fact_table_clear(&table);
    deviations = NULL;
    if (fact_table_make(facts, count, &table) != 0 ||
        groups_make(&table, classes, class_count, &groups) != 0)
        return -2;
    return majority_compare(&table, &groups, golden.count ? &golden : NULL, &deviations);
}

static const char *message(int i)
{
    deviation_message(&deviations[i], text, sizeof text);
    return text;
}

static void test_majority(void)
{
    static const struct fact mtu[] = {
        {"n1", "mtu", "eth1", "9000"}, {"n2", "mtu", "eth1", "1500"}, {"n3", "mtu", "eth1", "9000"},
        {"n4", "mtu", "eth1", "9000"}, {"n1", "kernel", "", "6.1"},   {"n2", "kernel", "", "6.1"},
        {"n3", "kernel", "", "6.1"},   {"n4", "kernel", "", "5.14"},
    };
    static const struct fact missing[] = {
        {"n1", "speed", "eth2", "100"}, {"n2", "speed", "eth2", "100"},
        {"n3", "cpu.count", "", "2"},   {"n1", "cpu.count", "", "2"},
        {"n2", "cpu.count", "", "2"},   {"n3", "mtu", "eth2", "9000"},
    };
    static const struct fact split[] = {
        {"n1", "mtu", "eth1", "9000"},
        {"n2", "mtu", "eth1", "1500"},
        {"n3", "mtu", "eth1", "9000"},
        {"n4", "mtu", "eth1", "1500"},
    };
    static const struct fact minority[] = {
        {"n1", "gpu.count", "", "8"},
        {"n1", "mtu", "eth0", "1500"},
        {"n2", "mtu", "eth0", "1500"},
        {"n3", "mtu", "eth0", "1500"},
    };
    static const struct fact twice[] = {
        {"n1", "mtu", "eth0", "1500"},
        {"n1", "mtu", "eth0", "9000"},
        {"n2", "mtu", "eth0", "9000"},
        {"n3", "mtu", "eth0", "9000"},
    };

    is_int(compare(mtu, 8, NULL, 0), 2, "two nodes deviate");
    is_str(deviations[0].node, "n4", "another kernel on n4");
    is_int(deviations[0].verdict, VERDICT_WARN, "... which is a warning");
    is_str(deviations[1].node, "n2", "another MTU on n2");
    is_int(deviations[1].verdict, VERDICT_FAIL, "... which fails, since it breaks jobs");
    is_str(message(1), "eth1 mtu is 1500, 9000 on 3 of 4 nodes", "... the message says so");
    ok(deviations[1].group == NULL, "a single group needs no name");
    is_int(compare(mtu, 2, NULL, 0), 1, "two nodes that differ are reported");
    ok(deviations[0].node == NULL && deviations[0].verdict == VERDICT_WARN,
       "... and neither is named");
    is_str(message(0), "eth1 mtu differs, 1500 and 9000, and two nodes have no majority",
           "... the message says so");
    is_int(compare(missing, 5, NULL, 0), 1, "a missing fact is a deviation");
    is_str(deviations[0].node, "n3", "... on the node that lacks it");
    has_str(message(0), "eth2 speed is missing, 100 on 2 of 3", "... the message says so");
    is_int(deviations[0].verdict, VERDICT_FAIL,
           "... it fails if the node has no other fact of the part");
    is_int(compare(missing, 6, NULL, 0), 1, "if the node has another fact of the part");
    is_int(deviations[0].verdict, VERDICT_UNKNOWN, "... the missing one is unknown");
    is_int(compare(split, 4, NULL, 0), 1, "an even split is reported once");
    ok(deviations[0].node == NULL && deviations[0].verdict == VERDICT_WARN, "... no node is named");
    is_str(message(0),
           "eth1 mtu differs and no value has a majority, 1500 on 2 and 9000 on 2 of 4 nodes",
           "... the message has both values");
    is_int(compare(minority, 4, NULL, 0), 0, "a fact of a minority that agrees is no deviation");
    is_int(compare(twice, 4, NULL, 0), 0, "of two values of one node the last one is used");
    is_int(compare(NULL, 0, NULL, 0), 0, "no facts, no deviations");
}

/* A value better than that of its peers is no failure. */
static void test_better_values(void)
{
    static const char *const rows[][4] = {
        {"speed", "eth1", "400000 Mb/s", "200000 Mb/s"},
        {"carrier", "eth3", "yes", "no"},
        {"gpu.count", "", "9", "8"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int is_less = 0; is_less < 2; is_less++) {
            const char *name = rows[i][0], *part = rows[i][1];
            const char *deviating = rows[i][2 + is_less], *common = rows[i][3 - is_less];
            const struct fact facts[] = {{"n1", name, part, common},
                                         {"n2", name, part, common},
                                         {"n3", name, part, deviating}};

            is_int(compare(facts, 3, NULL, 0), 1, "%s of one node is %s, of others %s", name,
                   deviating, common);
            is_int(deviations[0].verdict, is_less ? VERDICT_FAIL : VERDICT_WARN,
                   is_less ? "... a failure" : "... a warning");
            is_int(deviations[0].code, is_less ? fact_code(name) : FAULT_CONFIG_DIFFERS,
                   "... it has its own fault code only if it is less");
        }
}

/* The settings of a port without a cable are no failure. */
static void test_unplugged(void)
{
    static const struct fact facts[] = {
        {"n1", "mtu", "eth2", "1500"},    {"n2", "mtu", "eth2", "1500"},
        {"n3", "mtu", "eth2", "9000"},    {"n1", "carrier", "eth2", "no"},
        {"n2", "carrier", "eth2", "no"},  {"n3", "carrier", "eth2", "no"},
        {"n3", "carrier", "eth2", "yes"}, /* replaces the fact before it */
    };

    is_int(compare(facts, 6, NULL, 0), 1, "another MTU on a port without a link");
    is_int(deviations[0].verdict, VERDICT_WARN, "... a warning");
    is_int(compare(facts, 7, NULL, 0), 2, "another MTU on a port with a link, and the link itself");
    is_int(deviations[1].verdict, VERDICT_FAIL, "... a failure");
}

/* Half of the nodes lack a fact. */
static void test_half_missing(void)
{
    static const struct fact halves[] = {
        {"n1", "carrier", "eth2", "1"}, {"n2", "carrier", "eth2", "1"}, {"n1", "mtu", "eth1", "9"},
        {"n2", "mtu", "eth1", "9"},     {"n3", "mtu", "eth1", "9"},     {"n4", "mtu", "eth1", "9"},
    };
    static const struct fact two[] = {
        {"n1", "carrier", "eth2", "1"}, {"n1", "mtu", "eth1", "9"}, {"n2", "mtu", "eth1", "9"}};
    static const struct fact three[] = {{"n1", "kernel", "", "5"},  {"n2", "kernel", "", "6"},
                                        {"n3", "mtu", "eth1", "9"}, {"n4", "mtu", "eth1", "9"},
                                        {"n5", "mtu", "eth1", "9"}, {"n6", "kernel", "", "6"}};

    is_int(compare(halves, 6, NULL, 0), 1, "half of the nodes lack a rail");
    ok(deviations[0].node == NULL && deviations[0].verdict == VERDICT_WARN, "... no node is named");
    is_str(message(0),
           "eth2 carrier differs and no value has a majority, 1 on 2 and missing on 2 of 4 nodes",
           "... the message says so");
    is_int(compare(two, 3, NULL, 0), 1, "one of two nodes lacks a rail");
    is_str(message(0), "eth2 carrier differs, 1 and missing, and two nodes have no majority",
           "... the message says so");
    is_int(compare(three, 6, NULL, 0), 2, "two values, and as many nodes without the fact");
    is_str(message(0),
           "kernel differs and no value has a majority, 6 on 2 and missing on 3 of 6 nodes",
           "... the message says so");
    is_int(compare(two, 1, NULL, 0), 0, "a single node lacks nothing");
}

static void test_excerpt(void)
{
    static const struct {
        const char *text, *beside, *expected;
    } cases[] = {
        {"1500", "9000", "1500"},
        {NULL, "9000", "missing"},
        {"root=UUID=0c1d5c5e ro quiet", "root=UUID=0c1d5c5e", "... ro quiet"},
        {"root=UUID=0c1d ro quiet iommu=pt", "root=UUID=0c1d ro quiet iommu=on", "...iommu=pt"},
        {"a quite long text of words", "b", "a quite long t..."},
        {"a,quite,long,text,of,words", NULL, "a,quite,long,t..."},
        {"0123456789abcdefghijklmnop", "0123456789abcdefghijkl", "...mnop"},
        {"0123456789abcdefghijklmnop", "0123456789abcdefghijklmnopq", "..."},
        {"abcdefghijkl \303\244\303\244\303\244 ro", "abcdefghijkl \303\244\303\244\303\244 rw",
         "...ro"},
        {"abcdefghijklm\303\244opqrs", "x", "abcdefghijklm..."},
    };
    char excerpt[18];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        deviation_excerpt(cases[i].text, cases[i].beside, 17, excerpt);
        is_str(excerpt, cases[i].expected, "the excerpt of \"%s\"",
               cases[i].text ? cases[i].text : "nothing");
    }
}

/* n1 to n4 have H100s, but n3 lost its GPUs. n5 to n7 are CPU nodes. n8 has another board. */
static void test_groups(void)
{
    static const struct fact facts[] = {
        {"n1", "product", "", "XE9680"}, {"n1", "model", "gpu0", "H100"},
        {"n1", "mtu", "eth1", "9000"},   {"n2", "product", "", "XE9680"},
        {"n2", "model", "gpu0", "H100"}, {"n2", "mtu", "eth1", "9000"},
        {"n3", "product", "", "XE9680"}, {"n3", "mtu", "eth1", "9000"},
        {"n4", "product", "", "XE9680"}, {"n4", "model", "gpu1", "H100"},
        {"n4", "model", "gpu0", "H100"}, {"n4", "mtu", "eth1", "9000"},
        {"n5", "product", "", "R660"},   {"n5", "mtu", "eth1", "1500"},
        {"n6", "product", "", "R660"},   {"n6", "mtu", "eth1", "1500"},
        {"n7", "product", "", "R660"},   {"n7", "mtu", "eth1", "4000"},
        {"n8", "product", "", "XE9640"}, {"n8", "mtu", "eth1", "9000"},
        {"n1", "gpu.count", "", "1"},    {"n2", "gpu.count", "", "1"},
        {"n3", "gpu.count", "", "0"},    {"n4", "gpu.count", "", "1"},
    };
    static const struct node_class classes[] = {
        {"n1", "gpu:1"}, {"n2", "gpu:1"}, {"n3", "gpu:1"}, {"n4", "gpu:1"},
        {"n8", "gpu:1"}, {"n5", ""},      {"n6", NULL},
    };
    size_t count = sizeof facts / sizeof *facts;
    char *folded;
    int found;

    found = compare(facts, count, classes, 7);
    is_int((int)groups.count, 3, "three kinds of nodes");
    is_str(groups.groups[0].label, "XE9680, H100",
           "the largest group comes first, with its hardware as label");
    folded = group_fold(&table, &groups.groups[0]);
    is_str(folded, "n[1-4]", "a node that lost its GPUs stays in its group");
    free(folded);
    is_int(found, 4, "each node is compared with its own group");
    is_str(message(0), "gpu.count is 0, 1 on 3 of 4 nodes of XE9680, H100", "the lost GPUs");
    is_str(message(1), "hardware is XE9640, XE9680, H100 on 4 of 5 nodes",
           "a single node among many of its class deviates by its hardware");
    is_str(deviations[1].node, "n8", "... and named");
    is_str(message(2), "gpu0 model is missing, H100 on 3 of 4 nodes of XE9680, H100",
           "the lost GPUs' model");
    is_str(message(3), "eth1 mtu is 4000, 1500 on 2 of 3 nodes of R660",
           "no node is compared with one of another kind");
    compare(facts, count, (struct node_class[]){{"n1", "a"}, {"n2", "a"}, {"n3", "b"}}, 3);
    is_int((int)groups.count, 5, "classes divide groups of the same hardware");
    ok(strcmp(groups.groups[0].label, "R660") == 0,
       "... a class that divides nothing is not in the label");
    has_str(groups.groups[1].label, "XE9680, H100, a", "... a class that does is");
}

static void test_golden(void)
{
    static const struct fact facts[] = {
        {"n1", "kernel", "", "6.1"},   {"n2", "kernel", "", "6.1"},   {"n3", "kernel", "", "6.1"},
        {"n4", "kernel", "", "5.14"},  {"n1", "mtu", "eth1", "9000"}, {"n2", "mtu", "eth1", "9000"},
        {"n3", "mtu", "eth1", "1500"}, {"n4", "mtu", "eth1", "1500"}, {"n1", "bios", "", "1\n2"},
        {"n2", "bios", "", "1\n2"},    {"n3", "bios", "", "1\n2"},
    };
    static const char *const bad[][2] = {
        {"kernel = 1\n", "g:1: found a fact before any group, expected \"group n[1-4]\""},
        {"group n1\nkernel 1\n", "g:2: found \"kernel 1\", expected \"group NODES\", "
                                 "\"NAME = VALUE\" or \"PART NAME = VALUE\""},
        {"group n1\na = 1\n\nb = 1\na = 2\n", "g:5: found a a second time, first in line 2"},
        {"group n[1-3]\ngroup n[3-4]\n", "g:2: found node n3 a second time, first in line 1"},
        {"group n[1-\n", "g:1: \"n[1-\" has a [ without a ]"},
        {"group \n", "g:1: found \"group\", expected \"group NODES\", \"NAME = VALUE\" or "
                     "\"PART NAME = VALUE\""},
        {"#\n", "g: found no group, expected \"group n[1-4]\" and facts"},
    };
    struct error err;
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);

    compare(facts, 11, NULL, 0);
    is_int(golden_write(stream, "of a test", &table, &groups), 0, "a golden file is written");
    fclose(stream);
    is_str(written,
           "# of a test\n\n# all nodes\ngroup n[1-4]\nbios = 1 2\nkernel = 6.1\n"
           "# no value has a majority: eth1 mtu = 9000\n",
           "... with the majority's values");
    free(written);
    is_int(golden_parse("# a\ngroup n[2-3]\n  kernel =  5.15 \neth1 mtu = 9000\r\nnew = 1\n", "x/g",
                        &golden, &err),
           0, "a golden file is read");
    is_int(compare(facts, 11, NULL, 0), 7, "nodes are compared with it");
    is_str(message(1), "kernel is 6.1, the golden file's line 3 says 5.15",
           "... its values take precedence over a majority");
    is_str(deviations[1].node, "n2", "... for the nodes of its group");
    is_str(message(3), "kernel is 5.14, 6.1 on 3 of 4 nodes",
           "... other nodes are compared with the majority");
    is_str(deviations[3].node, "n4", "... here n4");
    is_str(message(4), "eth1 mtu is 1500, the golden file's line 4 says 9000",
           "... the message has the line");
    ok(deviations[4].verdict == VERDICT_FAIL, "... the verdict is that of the fact");
    is_str(message(5), "new is missing, the golden file's line 5 says 1",
           "a fact of the golden file may be missing");
    golden_clear(&golden);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        is_int(golden_parse(bad[i][0], "g", &golden, &err), -1,
               "an invalid golden file is refused");
        is_str(err.text, bad[i][1], "... with line and cause");
    }
}

/* If a node has a part but not a fact about it, the fact is unknown. */
static void test_golden_missing_fact(void)
{
    static const struct fact facts[] = {
        {"n1", "speed", "eth1", "100000"},
        {"n2", "mtu", "eth1", "9000"},
        {"n1", "mtu", "eth1", "9000"},
        {"n3", "mtu", "eth2", "9000"},
    };
    int found, missing_count = 0;

    is_int(golden_parse("group n[1-3]\neth1 speed = 100000\n", "g", &golden, NULL), 0,
           "a golden file has the speed of eth1");
    found = compare(facts, 4, NULL, 0);
    for (int i = 0; i < found; i++) {
        if (strcmp(deviations[i].name, "speed") != 0 || !deviations[i].golden_line)
            continue;
        missing_count++;
        if (strcmp(deviations[i].node, "n2") == 0)
            is_int((int)deviations[i].verdict, VERDICT_UNKNOWN,
                   "... it is unknown on a node with other facts of eth1");
        else
            is_int((int)deviations[i].verdict, VERDICT_FAIL,
                   "... and a failure on a node without eth1");
    }
    is_int(missing_count, 2, "... two nodes lack the fact");
    golden_clear(&golden);
}

static void test_severity(void)
{
    const char *reason = NULL;

    is_int(fact_severity("mtu", &reason), VERDICT_FAIL, "a fact that stops jobs is a failure");
    has_str(reason, "transfers hang", "... with the reason of the catalogue");
    is_int(fact_severity("kernel", &reason), VERDICT_WARN,
           "a fact that changes behavior is a warning");
    is_int(fact_code("carrier"), FAULT_LINK_DOWN, "a fact has a fault code");
    is_int(fact_code("never heard of"), FAULT_CONFIG_DIFFERS,
           "... an unknown fact has the general code");
    is_int(fact_severity("never heard of", &reason), VERDICT_WARN,
           "... an unknown fact is a warning");
}

static void test_order(void)
{
    static const struct fact facts[] = {
        {"n1", "kernel", "", "6.1"}, {"n2", "kernel", "", "6.2"},  {"n3", "kernel", "", "6.1"},
        {"n4", "kernel", "", "6.1"}, {"n10", "kernel", "", "6.2"},
    };

    is_int(compare(facts, 5, NULL, 0), 2, "two nodes that differ");
    is_str(deviations[0].node, "n2", "n2 is listed before n10");
}

/* 16,384 nodes with 200 facts each; one fact deviates. */
static void test_scale(void)
{
    enum { NODES = 16384, FACTS = 200 };
    static char nodes[NODES][8], names[FACTS][12];
    struct fact *facts = malloc((size_t)NODES * FACTS * sizeof *facts);
    struct timespec before, after;
    int found;

    if (!facts)
        abort();
    for (int i = 0; i < NODES; i++)
        snprintf(nodes[i], sizeof nodes[i], "n%d", i);
    for (int i = 0; i < FACTS; i++)
        snprintf(names[i], sizeof names[i], "fact%d", i);
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < FACTS; k++)
            facts[i * FACTS + k] = (struct fact){nodes[i], names[k], k % 2 ? "eth1" : "", "same"};
    facts[12345 * FACTS + 77].value = "other";
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    found = compare(facts, (size_t)NODES * FACTS, NULL, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    is_int(found, 1, "one deviation among 3,276,800 facts");
    is_str(message(0), "eth1 fact77 is other, same on 16383 of 16384 nodes", "... is found");
    is_str(deviations[0].node, "n12345", "... on its node");
    printf("# %.2f s of processor time\n", (double)(after.tv_sec - before.tv_sec) +
                                               1e-9 * (double)(after.tv_nsec - before.tv_nsec));
    free(facts);
}

int main(void)
{
    test_majority();
    test_better_values();
    test_unplugged();
    test_half_missing();
    test_excerpt();
    test_groups();
    test_golden();
    test_golden_missing_fact();
    test_severity();
    test_order();
    test_scale();
    free(deviations);
    groups_clear(&groups);
    fact_table_clear(&table);
    return tap_done();
}
