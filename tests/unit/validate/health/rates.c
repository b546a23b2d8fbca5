/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/rates.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { HOUR = 3600 };

static struct rates rates;

static double take_count(uint64_t value, int64_t now_s)
{
    return rates_update(&rates, "eth1", "crc_errors", value, now_s, HOUR);
}

static void test_windows(void)
{
    double rise = 0;

    rates_init(&rates, "boot");
    is_near(take_count(12, 600), 12, 0,
            "ten minutes after boot all errors count for the last hour");
    is_near(take_count(14, 900), 2, 0, "then only the increase since the last reading counts");
    is_near(take_count(14, 4200), 2, 0, "... for an hour");
    is_near(take_count(14, 5000), 0, 0, "... and then not any more");
    rates_clear(&rates);

    rates_init(&rates, "boot");
    is_near(take_count(240, 240 * HOUR), 1, 0, "ten days after boot the mean rate counts");
    for (int minute = 1; minute <= 600; minute++)
        rise = take_count(240 + (uint64_t)minute, 240 * HOUR + 60 * minute);
    is_near(rise, 60, 5, "one error a minute is 60 an hour, for hours");
    is_int(rates.series[0].count <= RATES_SAMPLES, 1, "... with few samples");
    rates_clear(&rates);
}

static void test_resets(void)
{
    rates_init(&rates, "boot");
    take_count(1000, HOUR);
    is_near(take_count(3, 2 * HOUR), 3, 0, "a counter that was reset counts from zero");
    is_near(take_count(4, 2 * HOUR + 600), 1, 0, "... and continues from there");
    rates_clear(&rates);
}

/* A node whose counters are more than anybody's. */
static void bounds_series(void)
{
    char part[16];

    memset(&rates, 0xff, sizeof rates); /* whatever was there before */
    rates_init(&rates, "boot");
    for (int i = 0; i <= RATES_SERIES_MOST; i++) {
        snprintf(part, sizeof part, "eth%d", i);
        rates_update(&rates, part, "crc_errors", 1, HOUR, HOUR);
    }
    is_int(rates.count, RATES_SERIES_MOST, "no more than so many series are kept");
    rates_clear(&rates);
    is_int(rates.count, 0, "... and none once they are cleared");
    rates_clear(&rates);
    ok(!rates.series, "... twice");
}

static char *written_text(const struct rates *what)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (!stream || rates_write(what, stream) < 0)
        exit(99);
    fclose(stream);
    return text;
}

static void test_saved_rates(void)
{
    char bad[] = "muster rates 1\nboot boot\neth1\neth1 crc_errors 5:x 6:1\n"
                 "eth2 crc_errors 5:7 4:8\neth3 crc_errors 5:7 6:3\n";
    char *text, *copy;

    rates_init(&rates, "boot");
    take_count(5, 100);
    take_count(6, 1000);
    rates_update(&rates, "mlx5_0:1", "symbol_errors", 18446744073709551615u, 1000, HOUR);
    text = written_text(&rates);
    rates_clear(&rates);
    is_int(rates_parse(&rates, strcpy(copy = strdup(text), text), "boot"), 0,
           "a written text is read");
    is_near(take_count(8, 1100), 3, 0, "... and its counts continue");
    rates_clear(&rates);
    free(copy);
    copy = strdup(text);
    is_int(rates_parse(&rates, copy, "other"), -1, "a text of another boot is refused");
    is_int(rates.count, 0, "... nothing is known then");
    rates_clear(&rates);
    is_int(rates_parse(&rates, bad, "boot"), 0, "invalid samples are left out");
    is_int(rates.count, 3, "... the following series are read");
    is_int(rates.series[0].count + rates.series[1].count + rates.series[2].count, 2,
           "... samples that go backwards are left out");
    rates_clear(&rates);
    free(copy);
    free(text);
}

int main(void)
{
    test_windows();
    test_resets();
    bounds_series();
    test_saved_rates();
    return tap_done();
}
