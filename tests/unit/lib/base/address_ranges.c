/* SPDX-License-Identifier: Apache-2.0 */
/* Folding the addresses of a cluster loses none of them, however many there are. The text for
 * 16,384 nodes with ten rails fits an environment variable. */
#include "lib/base/address_ranges.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 16384, RAILS = 10, RANGES_MAX = 512, STRING_BYTES = 128 << 10 };

/* Folds a text to at most count_max ranges. Returns a text to be freed, or NULL if the first one is
 * invalid. */
static char *folded(const char *text, size_t count_max)
{
    struct address_range *ranges = NULL;
    size_t count = 0;
    char *result = NULL;

    if (address_ranges_parse(text, &ranges, &count) == 0)
        result = address_ranges_text(ranges, address_ranges_fold(ranges, count, count_max));
    free(ranges);
    return result;
}

static void is_folded(const char *text, size_t count_max, const char *expected, const char *what)
{
    char *result = folded(text, count_max);

    is_str(result, expected, "%s", what);
    free(result);
}

static struct in6_addr ipv4_address(uint32_t host_order)
{
    struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    host_order = htonl(host_order);
    memcpy(&address.s6_addr[12], &host_order, sizeof host_order);
    return address;
}

static void check_fold(void)
{
    is_folded("10.1.1.3 10.1.1.1 10.1.1.2 10.1.1.1", 9, "10.1.1.1-10.1.1.3",
              "adjacent addresses become one range, duplicates are dropped");
    is_folded("10.1.1.1 10.1.1.3", 9, "10.1.1.1 10.1.1.3",
              "addresses with a gap of one are not joined");
    is_folded("10.1.1.1-10.1.1.9 10.1.1.2-10.1.1.3", 9, "10.1.1.1-10.1.1.9",
              "a range inside another is dropped");
    is_folded("10.1.1.1 10.1.1.5 10.9.1.1 fe80::-fe80::ffff:ffff:ffff:ffff", 3,
              "10.1.1.1-10.1.1.5 10.9.1.1 fe80::-fe80::ffff:ffff:ffff:ffff",
              "the nearest addresses are joined if there are too many");
    is_folded("10.1.1.1 10.1.1.5 10.9.1.1", 1, "10.1.1.1-10.9.1.1",
              "one range is left of three addresses");
    is_folded("255.255.255.255 0.0.0.0", 9, "0.0.0.0 255.255.255.255",
              "the first and the last IPv4 address are not joined");
    is_folded("", 9, "", "no addresses make an empty text");
}

static void check_invalid_texts(void)
{
    static const char *const wrong[] = {"10.1.1",
                                        "10.1.1.1,10.1.1.2",
                                        "10.1.1.2-10.1.1.1",
                                        "10.1.1.1-",
                                        "-10.1.1.1",
                                        "10.1.1.1-2-3",
                                        "10.1.1.1  ::",
                                        "name",
                                        "10.1.1.1-10.1.1.2x"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *result = folded(wrong[i], 9);

        ok(!result, "'%s' is refused", wrong[i]);
        free(result);
    }
}

static void check_contain(void)
{
    struct address_range *ranges = NULL;
    size_t count = 0;
    const struct in6_addr in[] = {ipv4_address(0x0a010101), ipv4_address(0x0a010105),
                                  ipv4_address(0x0a010109)},
                          out[] = {ipv4_address(0x0a010100), ipv4_address(0x0a010102),
                                   ipv4_address(0x0a01010a)};
    bool has_all = true, has_none = true;

    address_ranges_parse("10.1.1.1 10.1.1.5-10.1.1.9", &ranges, &count);
    for (size_t i = 0; i < 3; i++) {
        has_all &= address_ranges_contain(ranges, count, &in[i]);
        has_none &= !address_ranges_contain(ranges, count, &out[i]);
    }
    ok(has_all, "addresses in a range are found, also its ends");
    ok(has_none, "... and addresses beside a range are not");
    ok(!address_ranges_contain(ranges, 0, &in[0]), "no address is in an empty list");
    free(ranges);
}

/* hash: a factor that scatters the hosts of a rail over its /16, as no real network does. */
static void check_cluster(uint32_t hash, const char *what)
{
    struct address_range *ranges = calloc((size_t)NODES * RAILS, sizeof *ranges);
    size_t count = 0, missing = 0;
    char *text;

    for (uint32_t rail = 0; rail < RAILS; rail++)
        for (uint32_t node = 0; node < NODES; node++) {
            struct in6_addr address =
                ipv4_address(0x0a000000 + (rail << 16) + (node * hash & 0xffff));

            ranges[count++] = (struct address_range){address, address};
        }
    count = address_ranges_fold(ranges, count, RANGES_MAX);
    for (uint32_t rail = 0; rail < RAILS; rail++)
        for (uint32_t node = 0; node < NODES; node++) {
            struct in6_addr address =
                ipv4_address(0x0a000000 + (rail << 16) + (node * hash & 0xffff));

            missing += !address_ranges_contain(ranges, count, &address);
        }
    is_int((long)missing, 0, "%s: the ranges contain every address of 16,384 nodes", what);
    text = address_ranges_text(ranges, count);
    ok(count <= RANGES_MAX && strlen(text) < STRING_BYTES, "... in %zu ranges, %zu bytes", count,
       strlen(text));
    free(text);
    free(ranges);
}

static void check_own(void)
{
    struct address_range *ranges;
    size_t count = address_ranges_own(&ranges);
    struct in6_addr loopback = ipv4_address(0x7f000001);

    ok(!address_ranges_contain(ranges, count, &loopback),
       "the host's own ranges do not contain loopback");
    free(ranges);
}

int main(void)
{
    check_fold();
    check_invalid_texts();
    check_contain();
    check_cluster(1, "hosts in a row");
    check_cluster(40503, "hosts scattered");
    check_own();
    return tap_done();
}
