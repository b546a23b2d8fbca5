/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_QUANTITY_H
#define MUSTER_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers with units, as people write them in a configuration. Independent of the locale. */

/* Parses digits, at most 12 before and 6 after the point, and advances *text. Returns false with
 * *text unchanged if there is no such number. */
bool quantity_parse_decimal(const char **text, double *number);

/* Formats a number that is not negative as shortly as possible, with at most 6 digits after the
 * point. */
void quantity_format_decimal(double number, char *text, size_t size);

/* Parses "90", "60s", "5m", "12h", "7d": a whole number of seconds. Returns false for another
 * text. */
bool quantity_parse_time(const char *text, double *seconds);

/* Formats a time with the greatest unit that gives a whole number: "90s", "1m", "7d". */
void quantity_format_time(double seconds, char *text, size_t size);

/* Parse and format "200Mb/s", "2.5Gb/s", "1Tb/s", in 10^6 bit/s. The parser returns false for
 * another text. */
bool quantity_parse_speed(const char *text, double *mbps);
void quantity_format_speed(double mbps, char *text, size_t size);

#endif
