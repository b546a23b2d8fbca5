/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/stages/request.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

/* Tests what is sent to the nodes that get a certificate, and which node gets which part. */

enum { NODES = 4096, RAILS = 8 };

static const char head[] = "run: r\ncluster: c\nlevel: quick\nexpires: 2000000000\n";

static struct request_node nodes[NODES];

static void nodes_make(size_t count, bool is_alike)
{
    for (size_t i = 0; i < count; i++) {
        char name[16], text[RAILS * 40];
        size_t used = 0;

        snprintf(name, sizeof name, "node%zu", i + 1);
        for (int rail = 0; rail < RAILS; rail++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "test: links eth%d: %zu Mb/s\n",
                                 rail, 390000 + (is_alike ? 0 : i));
        nodes[i] = (struct request_node){strdup(name), strdup(text)};
    }
}

static void nodes_clear(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((char *)(size_t)nodes[i].name);
        free(nodes[i].results);
    }
}

/* Returns the bytes sent to all nodes together, and in *longest the length of the longest part.
 * Checks that each node is in one part, and that the part's text has the node's block. */
static size_t check_parts(const struct request_parts *parts, size_t count, size_t *longest)
{
    size_t bytes = 0, found = 0, wrong = 0;

    *longest = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const struct request_part *part = &parts->items[i];
        size_t length = strlen(part->text);

        bytes += length * part->nodes.count;
        found += part->nodes.count;
        *longest = length > *longest ? length : *longest;
        wrong += strncmp(part->text, head, strlen(head)) != 0;
        for (size_t k = 0; k < part->nodes.count && count <= 1024; k++) {
            char block[64];

            snprintf(block, sizeof block, "node: %s\n", part->nodes.names[k]);
            wrong += parts->count > 1 && !strstr(part->text, block);
        }
    }
    is_int(found, count, "each of %zu nodes is in one part", count);
    is_int(wrong, 0, "... which begins with the head and has its block");
    return bytes;
}

static size_t sent_bytes(size_t count, bool is_alike, size_t *parts_count)
{
    struct request_parts parts;
    struct error err;
    size_t longest, bytes;

    nodes_make(count, is_alike);
    is_int(request_parts_make(head, nodes, count, REQUEST_BYTES, &parts, &err), 0, "%zu nodes, %s",
           count, is_alike ? "all alike" : "each with figures of its own");
    bytes = check_parts(&parts, count, &longest);
    ok(longest <= REQUEST_BYTES, "... none longer than it may be (%zu)", longest);
    *parts_count = parts.count;
    request_parts_clear(&parts);
    nodes_clear(count);
    return bytes;
}

int main(void)
{
    size_t parts_count;
    size_t few = sent_bytes(1024, false, &parts_count),
           many = sent_bytes(NODES, false, &parts_count);
    struct request_parts parts;
    struct error err;

    ok(many < 5 * few, "four times the nodes get about four times as many bytes: %zu and %zu", few,
       many);
    ok(parts_count < 20, "... in %zu parts", parts_count);
    sent_bytes(NODES, true, &parts_count);
    is_int(parts_count, 1, "all alike are one part");
    for (size_t more = 0; more <= 1; more++) {
        size_t blocks = 0;

        nodes_make(REQUEST_BLOCK_NODES + more, true);
        request_parts_make(head, nodes, REQUEST_BLOCK_NODES + more, REQUEST_BYTES, &parts, &err);
        for (const char *at = parts.items[0].text; (at = strstr(at, "\nnode: ")); at++)
            blocks++;
        is_int(blocks, 1 + more, "... %zu nodes are in blocks of at most %d",
               (size_t)REQUEST_BLOCK_NODES + more, REQUEST_BLOCK_NODES);
        request_parts_clear(&parts);
        nodes_clear(REQUEST_BLOCK_NODES + more);
    }

    nodes[0] = (struct request_node){"n2", (char[]){"test: a\n"}};
    nodes[1] = (struct request_node){"n3", (char[]){"test: b\n"}};
    nodes[2] = (struct request_node){"n1", (char[]){"test: a\n"}};
    is_int(request_parts_make("head: x\n", nodes, 3, REQUEST_BYTES, &parts, &err), 0,
           "three nodes");
    is_str(parts.items[0].text, "head: x\nnode: n[1-2]\ntest: a\nnode: n3\ntest: b\n",
           "... two of them alike");
    request_parts_clear(&parts);
    is_int(request_parts_make(head, nodes, 0, REQUEST_BYTES, &parts, &err), 0, "no node");
    is_int(parts.count, 0, "... needs no part");
    return tap_done();
}
