/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/address_ranges.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

__extension__ typedef unsigned __int128 number;

static void map_four(const struct in_addr *four, struct in6_addr *address)
{
    *address = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&address->s6_addr[12], four, 4);
}

bool address_map(const struct sockaddr *from, struct in6_addr *address)
{
    if (from->sa_family == AF_INET) {
        map_four(&((const struct sockaddr_in *)(const void *)from)->sin_addr, address);
    } else if (from->sa_family == AF_INET6) {
        *address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    } else {
        return false;
    }
    return true;
}

size_t addresses_own(struct in6_addr **own)
{
    struct ifaddrs *all;
    size_t count = 0;

    *own = NULL;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
        count++;
    *own = calloc(count + 1, sizeof **own);
    count = 0;
    for (const struct ifaddrs *entry = all; entry && *own; entry = entry->ifa_next)
        count += entry->ifa_addr && address_map(entry->ifa_addr, &(*own)[count]);
    freeifaddrs(all);
    return count;
}

static bool is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

size_t address_ranges_own(struct address_range **ranges)
{
    struct in6_addr *own;
    size_t many = addresses_own(&own), count = 0;

    *ranges = calloc(many + 1, sizeof **ranges);
    for (size_t i = 0; i < many && *ranges; i++) {
        struct address_range *range = &(*ranges)[count];

        if (is_loopback(&own[i]))
            continue;
        *range = (struct address_range){own[i], own[i]};
        if (!IN6_IS_ADDR_V4MAPPED(&own[i])) {
            memset(&range->first.s6_addr[8], 0, 8);
            memset(&range->last.s6_addr[8], 0xff, 8);
        }
        count++;
    }
    free(own);
    return address_ranges_fold(*ranges, count, SIZE_MAX);
}

static number number_of(const struct in6_addr *address)
{
    number value = 0;

    for (size_t i = 0; i < sizeof address->s6_addr; i++)
        value = value << 8 | address->s6_addr[i];
    return value;
}

static int by_first(const void *a, const void *b)
{
    const struct address_range *one = a, *other = b;

    return memcmp(&one->first, &other->first, sizeof one->first);
}

static int by_size(const void *a, const void *b)
{
    const number *one = a, *other = b;

    return (*one > *other) - (*one < *other);
}

/* Joins neighbors with at most gap addresses between them. Returns the number of ranges. */
static size_t merge(struct address_range *ranges, size_t count, number gap)
{
    size_t joined = count > 0;

    for (size_t i = 1; i < count; i++) {
        struct address_range *last = &ranges[joined - 1];
        number end = number_of(&last->last), begin = number_of(&ranges[i].first);

        if (begin > end && begin - end - 1 > gap)
            ranges[joined++] = ranges[i];
        else if (memcmp(&ranges[i].last, &last->last, sizeof last->last) > 0)
            last->last = ranges[i].last;
    }
    return joined;
}

size_t address_ranges_fold(struct address_range *ranges, size_t count, size_t most)
{
    number *gaps;

    if (count == 0)
        return 0;
    qsort(ranges, count, sizeof *ranges, by_first);
    count = merge(ranges, count, 0);
    if (count <= most)
        return count;
    gaps = calloc(count, sizeof *gaps);
    for (size_t i = 1; i < count && gaps; i++)
        gaps[i - 1] = number_of(&ranges[i].first) - number_of(&ranges[i - 1].last) - 1;
    if (gaps)
        qsort(gaps, count - 1, sizeof *gaps, by_size);
    count = merge(ranges, count, gaps ? gaps[count - most - 1] : ~(number)0);
    free(gaps);
    return count;
}

/* Does not call bsearch(), which is not safe in a signal handler. */
bool address_ranges_contain(const struct address_range *ranges, size_t count,
                            const struct in6_addr *address)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memcmp(address, &ranges[middle].first, sizeof *address) < 0)
            high = middle;
        else if (memcmp(address, &ranges[middle].last, sizeof *address) > 0)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

static const char *address_text(const struct in6_addr *address, char text[INET6_ADDRSTRLEN])
{
    return IN6_IS_ADDR_V4MAPPED(address)
               ? inet_ntop(AF_INET, &address->s6_addr[12], text, INET6_ADDRSTRLEN)
               : inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
}

char *address_ranges_text(const struct address_range *ranges, size_t count)
{
    size_t size = count * (2 * INET6_ADDRSTRLEN + 2) + 1;
    char first[INET6_ADDRSTRLEN], last[INET6_ADDRSTRLEN], *text = malloc(size);

    if (!text)
        return NULL;
    *text = '\0';
    for (size_t i = 0; i < count; i++) {
        bool is_one = memcmp(&ranges[i].first, &ranges[i].last, sizeof ranges[i].first) == 0;

        text_join(text, size, " ", "%s%s%s", address_text(&ranges[i].first, first),
                  is_one ? "" : "-", is_one ? "" : address_text(&ranges[i].last, last));
    }
    return text;
}

static bool address_parse(const char *text, size_t length, struct in6_addr *address)
{
    char word[INET6_ADDRSTRLEN];
    struct in_addr four;

    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (inet_pton(AF_INET6, word, address) == 1)
        return true;
    if (inet_pton(AF_INET, word, &four) != 1)
        return false;
    map_four(&four, address);
    return true;
}

int address_ranges_parse(const char *text, struct address_range **ranges, size_t *count)
{
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        struct address_range range;
        size_t dash;

        length = strcspn(text, " ");
        dash = strcspn(text, " -");
        if (!address_parse(text, dash, &range.first))
            return -1;
        range.last = range.first;
        if (dash < length && (!address_parse(text + dash + 1, length - dash - 1, &range.last) ||
                              memcmp(&range.first, &range.last, sizeof range.first) > 0))
            return -1;
        if (!GROW(*ranges, *count))
            return -1;
        (*ranges)[(*count)++] = range;
    }
    return 0;
}
