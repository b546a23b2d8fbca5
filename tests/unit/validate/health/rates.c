/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/rates.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { HOUR = 3600 };

static struct rates rates;

static double take(uint64_t value, int64_t now_s)
{
    return rates_take(&rates, "eth1", "crc_errors", value, now_s, HOUR);
}

static void windows(void)
{
    double rise = 0;

    rates_init(&rates, "boot");
    is_near(take(12, 600), 12, 0, "ten minutes after boot all errors count for the last hour");
    is_near(take(14, 900), 2, 0, "then only the increase since the last reading counts");
    is_near(take(14, 4200), 2, 0, "... for an hour");
    is_near(take(14, 5000), 0, 0, "... and then not any more");
    rates_clear(&rates);

    rates_init(&rates, "boot");
    is_near(take(240, 240 * HOUR), 1, 0, "ten days after boot the mean rate counts");
    for (int minute = 1; minute <= 600; minute++)
        rise = take(240 + (uint64_t)minute, 240 * HOUR + 60 * minute);
    is_near(rise, 60, 5, "one error a minute is 60 an hour, for hours");
    is_int(rates.series[0].count <= RATES_SAMPLES, 1, "... with few samples");
    rates_clear(&rates);
}

static void resets(void)
{
    rates_init(&rates, "boot");
    take(1000, HOUR);
    is_near(take(3, 2 * HOUR), 3, 0, "a counter that was reset counts from zero");
    is_near(take(4, 2 * HOUR + 600), 1, 0, "... and continues from there");
    rates_clear(&rates);
}

static char *text_of(const struct rates *what)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (!stream || rates_write(what, stream) < 0)
        exit(99);
    fclose(stream);
    return text;
}

static void files(void)
{
    char bad[] = "muster rates 1\nboot boot\neth1\neth1 crc_errors 5:x 6:1\n"
                 "eth2 crc_errors 5:7 4:8\neth3 crc_errors 5:7 6:3\n";
    char *text, *again;

    rates_init(&rates, "boot");
    take(5, 100);
    take(6, 1000);
    rates_take(&rates, "mlx5_0:1", "symbol_errors", 18446744073709551615u, 1000, HOUR);
    text = text_of(&rates);
    rates_clear(&rates);
    is_int(rates_parse(&rates, strcpy(again = strdup(text), text), "boot"), 0,
           "a written text is read");
    is_near(take(8, 1100), 3, 0, "... and its counts continue");
    rates_clear(&rates);
    free(again);
    again = strdup(text);
    is_int(rates_parse(&rates, again, "other"), -1, "a text of another boot is refused");
    is_int(rates.count, 0, "... nothing is known then");
    rates_clear(&rates);
    is_int(rates_parse(&rates, bad, "boot"), 0, "invalid samples are left out");
    is_int(rates.count, 3, "... the following series are read");
    is_int(rates.series[0].count + rates.series[1].count + rates.series[2].count, 2,
           "... samples that go backwards are left out");
    rates_clear(&rates);
    free(again);
    free(text);
}

int main(void)
{
    windows();
    resets();
    files();
    return tap_done();
}
