/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/localization/matrix.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* 80 nodes and two rails: more cells than a table begins with. */
enum { NODES = 80, ROUNDS = 40, MOST = 20000 };
static struct record items[MOST];
static struct records records = {.items = items};
static struct hostlist names;
static int leaves[NODES];
static struct conf conf;
static const struct matrix_source source = {
    .records = &records, .conf = &conf, .names = &names, .leaves = leaves};

static struct record *add(const char *metric, int from, int to, const char *rail, double value)
{
    struct record *record = &items[records.count++];

    *record = (struct record)RECORD_INIT;
    record->suite = record->test = "links";
    record->metric = metric;
    record->node = names.names[from];
    record->peer = to < 0 ? NULL : names.names[to];
    record->part = rail;
    record->unit = "Mb/s";
    record->value = value;
    return record;
}

static void measure_all(void)
{
    for (int node = 0; node < NODES; node++)
        for (int step = 1; step <= ROUNDS; step++)
            for (int rail = 0; rail < 2; rail++)
                add("bandwidth", node, (node + step) % NODES, rail ? "eth2" : "eth1",
                    100 + node + step);
}

static const struct link_sample *cell_of(const struct matrix *matrix, int from, int to, int rail)
{
    for (size_t i = 0; i < matrix->cells.count; i++) {
        const struct link_sample *cell = &matrix->cells.items[i];

        if (cell->from == from && cell->to == to && cell->rail == rail)
            return cell;
    }
    return NULL;
}

/* Compares all but what lies between the members. */
static int differences(const struct matrix *a, const struct matrix *b)
{
    int count = a->cells.count != b->cells.count;

    for (size_t i = 0; i < a->cells.count && i < b->cells.count; i++) {
        const struct link_sample *x = &a->cells.items[i], *y = &b->cells.items[i];

        count += x->from != y->from || x->to != y->to || x->rail != y->rail || x->mbps != y->mbps ||
                 x->again != y->again || x->load != y->load || x->low_mbps != y->low_mbps ||
                 x->first_mbps != y->first_mbps;
    }
    return count;
}

static void test_cells(void)
{
    struct matrix matrix;
    int wrong = 0;

    records.count = 0;
    measure_all();
    is_int(matrix_build(&source, 0, SIZE_MAX, &matrix), 0, "a matrix of 80 nodes");
    is_int((long)matrix.cells.count, NODES * ROUNDS * 2, "... has a cell for each direction");
    for (int node = 0; node < NODES; node++)
        for (int step = 1; step <= ROUNDS; step++) {
            const struct link_sample *cell =
                cell_of(&matrix, node, (node + step) % NODES, step % 2);

            wrong += !cell || cell->mbps != 100 + node + step;
        }
    is_int(wrong, 0, "... each with its own figure");
    matrix_clear(&matrix);
}

static void test_latency(void)
{
    struct matrix matrix;
    struct record *record;
    const struct link_sample *cell;

    records.count = 0;
    record = add("latency", 3, 4, "eth1", 442);
    record->low = 37;
    record->high = 5973;
    add("latency", 4, 3, "eth1", 60);
    is_int(matrix_build(&source, 0, SIZE_MAX, &matrix), 0, "latencies");
    cell = cell_of(&matrix, 3, 4, 0);
    is_near(cell ? cell->latency_us : NAN, 37, 0, "... the least counts: a busy machine only adds");
    cell = cell_of(&matrix, 4, 3, 0);
    is_near(cell ? cell->latency_us : NAN, 60, 0, "... or the only one");
    matrix_clear(&matrix);
}

static void test_alone(void)
{
    static const double stalled[] = {0.01, 0.2, 0, NAN};
    static const double mbps[] = {60, 70, 104, 40};
    struct matrix matrix;
    const struct link_sample *cell;
    size_t again;

    records.count = 0;
    add("bandwidth", 7, 8, "eth2", 90)->stalled = 0.02;
    add("bandwidth", 8, 7, "eth2", 90);
    again = records.count;
    for (int i = 0; i < 4; i++)
        add("bandwidth", 7, 8, "eth2", mbps[i])->stalled = stalled[i];
    is_int(matrix_build(&source, 0, again, &matrix), 0, "four measurements alone");
    is_int((long)matrix.moment_count, 2, "... each that was let run is kept");
    ok(matrix.moment_count == 2 && matrix.moments[0].from == 7 && matrix.moments[0].to == 8 &&
           matrix.moments[0].rail == 0,
       "... with its ends and rail");
    is_near(matrix.moment_count == 2 ? matrix.moments[0].mbps : NAN, 60 / 0.99, 0.01,
            "... with what it had of the time in which it was let run");
    is_near(matrix.moment_count == 2 ? matrix.moments[1].mbps : NAN, 104, 0, "... in turn");
    cell = cell_of(&matrix, 7, 8, 0);
    is_near(cell ? cell->mbps : NAN, 104, 0, "... the best one is the cell's");
    is_near(cell ? cell->first_stalled : NAN, 0.02, 1e-6, "... which was let run at first");
    cell = cell_of(&matrix, 8, 7, 0);
    is_near(cell ? cell->first_stalled : NAN, 1, 0, "... another one may not have been");
    matrix_clear(&matrix);
}

/* Of several measurements among others the best one is the cell's, and the others are kept. */
static void test_several(void)
{
    static const double stalled[] = {0.01, 0.02, 0.3, NAN};
    static const double mbps[] = {60, 100, 80, 70};
    static const float kept_stalled[] = {0.01F, 0.3F, 1};
    static const double kept_mbps[] = {60, 80, 70};
    struct matrix matrix;
    const struct link_sample *cell;

    records.count = 0;
    for (int i = 0; i < 4; i++)
        add("bandwidth", 7, 8, "eth2", mbps[i])->stalled = stalled[i];
    add("bandwidth", 8, 7, "eth2", 90);
    is_int(matrix_build(&source, 0, SIZE_MAX, &matrix), 0, "a path measured four times");
    cell = cell_of(&matrix, 7, 8, 0);
    is_near(cell ? cell->mbps : NAN, 100, 0, "... has the best");
    is_near(cell ? cell->first_stalled : NAN, 0.02, 1e-6, "... which was let run");
    is_int((long)matrix.moment_count, 3, "... the others are kept");
    for (size_t i = 0; i < matrix.moment_count && i < 3; i++) {
        is_near(matrix.moments[i].mbps, kept_mbps[i], 0, "... with what they had");
        is_near(matrix.moments[i].first_stalled, kept_stalled[i], 1e-6,
                "... how they were let run");
        is_int(matrix.moments[i].again, 0, "... and that they were among others");
    }
    matrix_clear(&matrix);
}

static void test_again(void)
{
    struct matrix whole, grown;
    const struct link_sample *cell;
    size_t again;

    records.count = 0;
    add("speed", 0, -1, "eth1", 110);
    measure_all();
    matrix_build(&source, 0, SIZE_MAX, &grown);
    again = records.count;
    add("bandwidth", 7, 8, "eth2", 40)->high = 45; /* known */
    add("bandwidth", 7, 8, "eth2", 60)->low = 55;
    add("bandwidth", 7, 6, "eth1", 70);  /* new */
    add("bandwidth", 0, 1, "eth1", 500); /* more than its NIC has */
    is_int(matrix_build(&source, 0, again, &whole), 0, "suspects measured again, all in one go");
    is_int(matrix_add(&source, again, &grown), 0, "... and added to what was there");
    is_int(differences(&whole, &grown), 0, "... are the same matrix");
    cell = cell_of(&grown, 7, 8, 1);
    is_int(cell ? cell->again : -1, 1, "... a pair that was measured twice more in one look");
    is_near(cell ? cell->first_mbps : NAN, 108, 0, "... what it had at first");
    cell = cell_of(&grown, 7, 6, 0);
    is_int(cell ? cell->again : -1, 1, "... a pair that was not measured before");
    cell = cell_of(&grown, 0, 1, 0);
    is_near(cell ? cell->mbps : NAN, 110, 0, "... and nobody has more than nominal");
    again = records.count;
    add("bandwidth", 7, 6, "eth1", 72);
    matrix_add(&source, again, &grown);
    cell = cell_of(&grown, 7, 6, 0);
    is_int(cell ? cell->again : -1, 2, "... and in the next look");
    again = records.count;
    add("bandwidth", 1, 2, "eth3", 500);
    is_int(matrix_add(&source, again, &grown), 1, "a rail that the matrix does not have");
    is_int((long)grown.cells.count, NODES * ROUNDS * 2 + 1, "... is not added");
    matrix_clear(&whole);
    matrix_clear(&grown);
}

/* Nodes on the last of a cluster's leaf switches. */
static void test_blocks(void)
{
    static const char *const leaf_names[] = {"s1", "s2", "s3", "s4", "s5", "s6"};
    struct matrix_source some = source;
    struct matrix matrix;
    struct links seen;

    records.count = 0;
    measure_all();
    some.leaf_names = leaf_names;
    for (int node = 0; node < NODES; node++)
        leaves[node] = node < 30 ? 5 : 3;
    is_int(matrix_build(&some, 0, SIZE_MAX, &matrix), 0, "nodes on two of six leaf switches");
    seen = matrix_links(&matrix);
    is_int(seen.blocks ? seen.blocks[40] : -1, 0, "... the first of these is block 0");
    is_int(seen.blocks ? seen.blocks[0] : -1, 1, "... the other block 1");
    is_str(seen.block_names[0], "s4", "... by its name");
    is_str(seen.block_names[1], "s6", "... and its own");
    matrix_clear(&matrix);
    leaves[7] = -1;
    is_int(matrix_build(&some, 0, SIZE_MAX, &matrix), 0, "a node that is on no known leaf switch");
    ok(!matrix_links(&matrix).blocks, "... and no block is known");
    matrix_clear(&matrix);
    memset(leaves, 0, sizeof leaves);
}

int main(void)
{
    char name[16];

    conf_defaults(&conf);
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%d", i + 1);
        hostlist_append(&names, name);
    }
    test_cells();
    test_latency();
    test_alone();
    test_several();
    test_again();
    test_blocks();
    hostlist_clear(&names);
    conf_clear(&conf);
    return tap_done();
}
