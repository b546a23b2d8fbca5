/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/passes.h"
#include "tests/unit/tap.h"

static void is_refused(const char *text, const char *why)
{
    struct passes passes;
    struct error err = {""};

    is_int(passes_parse(text, &passes, &err), -1, "passes \"%s\" are refused", text);
    has_str(err.text, why, "... with the reason");
}

static void blocks_are_refused(const char *text, const char *why)
{
    struct blocks blocks;
    struct error err = {""};

    is_int(blocks_parse(text, &blocks, &err), -1, "blocks \"%s\" are refused", text);
    is_str(err.text, why, "... with the reason");
    is_int((long)blocks.count, 0, "... no block is left");
}

int main(void)
{
    struct error err = {""};
    struct passes passes;
    struct blocks blocks;

    is_int(passes_parse("together,pairs", &passes, &err), 0, "two passes");
    is_int((long)passes.count, 2, "... are two");
    is_int(passes.kinds[0], PASS_TOGETHER, "... in the order");
    is_int(passes.kinds[1], PASS_PAIRS, "... that was asked for");
    is_int(passes_parse("pairs,together,uplinks,bisection,verbs,local", &passes, &err), 0,
           "all six");
    is_str(pass_name(passes.kinds[4]), "verbs", "... verbs is one");
    is_str(pass_name(passes.kinds[5]), "local", "... local is one");
    is_str(pass_name(passes.kinds[3]), "bisection", "... bisection is one");
    is_str(pass_metric(passes.kinds[2]), "bandwidth_uplink", "... each has a metric");
    is_refused("", "found \"\"");
    is_refused("pairs,", "found \"pairs,\"");
    is_refused("pairs,pairs", "each once");
    is_refused("pair", "found \"pair\"");

    is_int(blocks_parse("leaf1=n[1-2];leaf2=n[3-4],x:3", &blocks, &err), 0, "two blocks");
    is_int((long)blocks.count, 2, "... are two");
    is_str(blocks.names[1], "leaf2", "... with their names");
    is_int(blocks_of(&blocks, "n2"), 0, "n2 is in the first");
    is_int(blocks_of(&blocks, "x"), 1, "x is in the second");
    is_int(blocks_of(&blocks, "n5"), -1, "n5 is in none");
    is_int(blocks.uplink_pairs[0], 0, "the first leaf has no uplink limit");
    is_int(blocks.uplink_pairs[1], 3, "... the second has a limit of 3 pairs");
    blocks_clear(&blocks);
    blocks_are_refused("", "expected LEAF=NODES[:PAIRS];..., found \"\"");
    blocks_are_refused("a=n1;", "expected LEAF=NODES[:PAIRS];..., found \"\"");
    blocks_are_refused("a=", "expected LEAF=NODES[:PAIRS];..., found \"a=\"");
    blocks_are_refused("=n1", "expected LEAF=NODES[:PAIRS];..., found \"=n1\"");
    blocks_are_refused("a=n1;a=n2", "a is given twice");
    blocks_are_refused("a=:2", "expected NODES:PAIRS, found \":2\"");
    blocks_are_refused("a=n1:0", "expected NODES:PAIRS, found \"n1:0\"");
    blocks_are_refused("b=n2;a=n1:2x", "expected NODES:PAIRS, found \"n1:2x\"");
    blocks_are_refused("a=n[1-2];b=n2", "node n2 is in two blocks");
    blocks_parse("a=n[1-", &blocks, &err);
    has_str(err.text, "n[1-", "an invalid node list is named");
    return tap_done();
}
