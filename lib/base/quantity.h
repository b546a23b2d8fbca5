/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_QUANTITY_H
#define MUSTER_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers with units, as people write them in a configuration. The same in every locale. */

/* Reads digits with at most 12 places before and 6 behind the point; *text moves behind them.
 * False, with *text where it was, when there is no such number. */
bool quantity_take_decimal(const char **text, double *number);

/* The shortest text of a number that is not negative, at most 6 places behind the point. */
void quantity_format_decimal(double number, char *text, size_t size);

/* "90", "60s", "5m", "12h", "7d": a whole number of seconds. False for any other text. */
bool quantity_parse_time(const char *text, double *seconds);

/* With the greatest unit that leaves a whole number: "90s", "1m", "7d". */
void quantity_format_time(double seconds, char *text, size_t size);

/* "200Mb/s", "2.5Gb/s", "1Tb/s", in 10^6 bit/s. False for any other text. */
bool quantity_parse_speed(const char *text, double *mbps);
void quantity_format_speed(double mbps, char *text, size_t size);

#endif
