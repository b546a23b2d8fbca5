/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/quantity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

bool quantity_parse_decimal(const char **text, double *number)
{
    const char *c = *text;
    double value = 0, place = 0.1;

    if (!isdigit((unsigned char)*c))
        return false;
    for (; isdigit((unsigned char)*c); c++)
        value = value * 10 + (*c - '0');
    if (c - *text > 12)
        return false;
    if (c[0] == '.' && isdigit((unsigned char)c[1])) {
        const char *point = c;

        for (c++; isdigit((unsigned char)*c); c++, place /= 10)
            value += place * (*c - '0');
        if (c - point > 7)
            return false;
    }
    *number = value;
    *text = c;
    return true;
}

void quantity_format_decimal(double number, char *text, size_t size)
{
    long long millionths = (long long)(number * 1e6 + (number < 0 ? -0.5 : 0.5));
    int used = snprintf(text, size, "%lld.%06lld", millionths / 1000000, millionths % 1000000);

    while (used > 0 && text[used - 1] == '0')
        text[--used] = '\0';
    if (used > 0 && text[used - 1] == '.')
        text[used - 1] = '\0';
}

static const struct time_unit {
    char letter;
    long seconds;
} time_units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { TIME_UNITS = sizeof time_units / sizeof *time_units };

bool quantity_parse_time(const char *text, double *seconds)
{
    size_t unit = 0;
    double number;

    if (!quantity_parse_decimal(&text, &number))
        return false;
    while (*text && unit < TIME_UNITS && time_units[unit].letter != *text)
        unit++;
    if (*text && (unit == TIME_UNITS || text[1]))
        return false;
    if (*text)
        number *= (double)time_units[unit].seconds;
    if (number > 1e15 || number != (double)(long long)number)
        return false;
    *seconds = number;
    return true;
}

void quantity_format_time(double seconds, char *text, size_t size)
{
    size_t unit = 0;
    long whole = (long)(seconds + 0.5);

    while (unit + 1 < TIME_UNITS && (whole == 0 || whole % time_units[unit].seconds != 0))
        unit++;
    snprintf(text, size, "%ld%c", whole / time_units[unit].seconds, time_units[unit].letter);
}

static const struct speed_unit {
    const char *name;
    double mbps;
} speed_units[] = {{"Tb/s", 1e6}, {"Gb/s", 1e3}, {"Mb/s", 1}};

enum { SPEED_UNITS = sizeof speed_units / sizeof *speed_units };

bool quantity_parse_speed(const char *text, double *mbps)
{
    size_t unit = 0;
    double number;

    if (!quantity_parse_decimal(&text, &number))
        return false;
    while (unit < SPEED_UNITS && strcmp(text, speed_units[unit].name) != 0)
        unit++;
    if (unit == SPEED_UNITS)
        return false;
    *mbps = number * speed_units[unit].mbps;
    return true;
}

void quantity_format_speed(double mbps, char *text, size_t size)
{
    size_t unit = 0;

    while (unit + 1 < SPEED_UNITS && mbps < speed_units[unit].mbps)
        unit++;
    quantity_format_decimal(mbps / speed_units[unit].mbps, text, size);
    text_join(text, size, "", "%s", speed_units[unit].name);
}
