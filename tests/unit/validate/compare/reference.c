/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/reference.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST " source=\"a b\" seen=2026-11"

static void test_parse(void)
{
    static const char *const bad[][2] = {
        {"frob\n", "r:1: found \"frob\", allowed KEY=VALUE"},
        {"\n# c\nfrob=1\n", "r:3: found the key \"frob\", allowed metric, value, unit, kind, gpu,"},
        {"metric=frob\n", "r:1: found metric=frob, allowed links.bandwidth, links.latency,"},
        {"value=ten\n", "r:1: found value=ten, allowed a number"},
        {"kind=guess\n", "r:1: found kind=guess, allowed threshold, expected, measured"},
        {"nodes=8-2\n", "r:1: found nodes=8-2, allowed 1, 2- or 2-8"},
        {"nodes=0\n", "r:1: found nodes=0, allowed"},
        {"gpus=1.5\n", "r:1: found gpus=1.5, allowed 0 to 1024"},
        {"seen=2026-13\n", "r:1: found seen=2026-13, allowed YYYY-MM"},
        {"seen=yesterday\n", "r:1: found seen=yesterday, allowed YYYY-MM"},
        {"source=\"x\n", "r:1: found a quote without its end after source="},
        {"gpu=A gpu=B\n", "r:1: found gpu= twice, allowed once"},
        {"gpu=\n", "r:1: found gpu= of 0 bytes, allowed 1 to 47"},
        {"metric=links.bandwidth value=1 unit=Gb/s" REST "\n", "r:1: found no kind"},
        {"metric=links.bandwidth kind=expected unit=Gb/s" REST "\n", "r:1: found no value above 0"},
        {"metric=links.bandwidth value=1 kind=expected unit=GB/s" REST "\n",
         "r:1: found unit=GB/s, allowed for links.bandwidth: Mb/s Gb/s"},
        {"metric=links.bandwidth value=1 kind=expected unit=b/s" REST "\n", "r:1: found unit=b/s"},
        {"metric=links.latency value=1 kind=expected unit=us source=x\n", "r:1: found no seen;"},
        {"metric=links.latency value=1 kind=expected unit=us seen=2026-01\n",
         "r:1: found no source;"},
    };
    struct reference reference;
    struct error err = {""};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        is_int(reference_parse(bad[i][0], "r", &reference, &err), -1, "refused: %.40s", bad[i][0]);
        ok(strncmp(err.text, bad[i][1], strlen(bad[i][1])) == 0, "... %s", err.text);
    }
    is_int(reference_parse("metric=links.bandwidth value=380 unit=Gb/s kind=threshold gpu=\"H100 "
                           "80GB\" nodes=2-8\tgpus=8 nic_gbps=400" REST " note=\"c d\"\r\n",
                           "/etc/r", &reference, &err),
           0, "a line is read (%s)", err.text);
    is_int(reference.count, 1, "one line is read");
    is_str(reference.lines[0].gpu, "H100 80GB", "... a value with blanks in quotes");
    is_str(reference.lines[0].source, "a b", "... the source");
    is_near(reference_mbps(&reference.lines[0]), 380000, 0, "... the value in Mb/s");
    is_int(reference.lines[0].nodes_most, 8, "... the most nodes");
    reference_clear(&reference);
}

static void test_match(void)
{
    static const char table[] =
        "metric=links.bandwidth value=100 unit=Mb/s kind=threshold" REST "\n"
        "metric=links.bandwidth value=360 unit=Gb/s kind=threshold gpu=H200 nic_gbps=400" REST "\n"
        "metric=links.bandwidth value=380 unit=Gb/s kind=threshold gpu=h100 nic_gbps=400" REST "\n"
        "metric=links.bandwidth value=375 unit=Gb/s kind=threshold gpu=h100 nic_gbps=400" REST "\n"
        "metric=links.bandwidth value=391 unit=Gb/s kind=measured gpu=h100 nic_gbps=400" REST "\n"
        "metric=links.bandwidth value=384 unit=Gb/s kind=threshold gpu=B200 nic_gbps=400" REST "\n"
        "metric=host.memory value=665 unit=GB/s kind=threshold cpu=EPYC gpus=0 nodes=2-" REST "\n";
    struct reference_hardware h100 = {"NVIDIA H100 80GB HBM3", "Xeon", 8, 400, 0};
    struct reference_hardware other = h100;
    const struct reference_line *found;
    struct reference reference;
    char why[400];

    is_int(reference_parse(table, "r", &reference, NULL), 0, "a table");
    found = reference_find(&reference, "links.bandwidth", REFERENCE_THRESHOLD, &h100);
    is_int(found ? (int)found->line : 0, 4, "the line for the hardware, the lowest of two");
    found = reference_find(&reference, "links.bandwidth", REFERENCE_MEASURED, &h100);
    is_int(found ? (int)found->line : 0, 5, "... and the line of another kind");
    other.gpu = "NVIDIA H200";
    found = reference_find(&reference, "links.bandwidth", REFERENCE_THRESHOLD, &other);
    is_int(found ? (int)found->line : 0, 2, "other GPUs have another line");
    other.gpu = "NVIDIA GB200";
    found = reference_find(&reference, "links.bandwidth", REFERENCE_THRESHOLD, &other);
    is_int(found ? (int)found->line : 0, 1, "B200 does not match GB200");
    h100.nic_gbps = 200;
    found = reference_find(&reference, "links.bandwidth", REFERENCE_THRESHOLD, &h100);
    is_int(found ? (int)found->line : 0, 1, "other rails have the general line");
    ok(!reference_applies(&reference.lines[2], &h100, why, sizeof why),
       "a line that does not apply");
    is_str(why, "not: rails of 400 Gb/s (here 200)", "... with the reason");
    h100.nic_gbps = 400;
    ok(reference_applies(&reference.lines[2], &h100, why, sizeof why), "a line that applies");
    is_str(why, "GPU h100 (here NVIDIA H100 80GB HBM3), rails of 400 Gb/s (here 400)",
           "... with the reason, too");
    other = (struct reference_hardware){"", "AMD EPYC 9V33X", 0, 0, 0};
    ok(reference_applies(&reference.lines[6], &other, why, sizeof why),
       "an unknown number of nodes matches");
    other.nodes = 1;
    ok(!reference_applies(&reference.lines[6], &other, why, sizeof why),
       "a known number must match");
    ok(!reference_is_measured("nccl.all_reduce") && reference_is_measured("links.bandwidth"),
       "only muster's own metrics count as measured");
    reference_clear(&reference);
}

/* The reference.conf that is shipped. */
static void test_shipped(void)
{
    const char *top = getenv("top_srcdir");
    struct reference reference;
    struct error err = {""};
    char path[4096];

    snprintf(path, sizeof path, "%s/etc/reference.conf", top ? top : ".");
    is_int(reference_parse(tree_text(path), path, &reference, &err), 0,
           "the shipped reference file is valid %s", err.text);
    ok(reference.count > 30, "... and has %zu lines", reference.count);
    for (size_t i = 0; i < reference.count; i++)
        if (!strchr(reference.lines[i].source, '.') && !strstr(reference.lines[i].source, "NVIDIA"))
            ok(false, "line %u has a source that can be verified", reference.lines[i].line);
    reference_clear(&reference);
}

int main(void)
{
    test_parse();
    test_match();
    test_shipped();
    return tap_done();
}
