/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/samples.h"
#include "tests/unit/tap.h"

#include <math.h>

static void tells_tight_from_loose(void)
{
    double samples[40];

    for (int i = 0; i < 40; i++)
        samples[i] = i % 4 == 0 ? 150 : 200 + i % 3;
    ok(!samples_are_tight(samples, 4), "of four samples the lowest counts");
    ok(samples_are_tight(samples, 40), "of forty with a quarter low the median is certain");
    ok(!samples_are_tight(samples, 0), "no sample: nothing is certain");
    ok(samples_are_tight((double[]){197, 200, 203, 199}, 4), "within 5 %%: tight");
    ok(!samples_are_tight((double[]){197, 200, 212, 199}, 4), "6 %% above: not");
}

static void counts_outliers(void)
{
    double samples[] = {200, 199, 201, 200, 120, 200, 198, 202, 60};

    is_int(samples_outliers(samples, 9), 2, "two samples are of another kind");
    is_int((long)samples_lowest(samples, 9), 60, "... the lowest");
    is_int(samples_outliers(samples, 4), 0, "a steady link has none");
    is_int(samples_outliers((double[]){100, 150, 200, 250}, 4), 0, "nor has an unsteady one");
    is_int(samples_outliers(samples, 0), 0, "nor has nothing");
    ok(isnan(samples_lowest(samples, 0)), "... which has no lowest");
}

static void finds_the_common_window(void)
{
    double early[] = {10, 11, 12}, late[] = {11.5, 12.5, 13.5};
    struct flow flows[] = {{early, 2, 1e6}, {late, 2, 2e6}, {early, 0, 0}};
    double begin, end;

    ok(flows_window(flows, 3, &begin, &end), "two flows overlap");
    ok(begin == 11.5 && end == 12, "... from 11.5 to 12 s (%g to %g)", begin, end);
    is_int(lround(flow_mbps(&flows[0], begin, end)), 8, "the first has 1 MB/s there");
    is_int(lround(flow_mbps(&flows[1], begin, end)), 16, "the second two");
    is_int(lround(flow_mbps(&flows[0], 0, 100)), 0, "spread over 100 s it is little");
    early[2] = 11.2;
    ok(!flows_window(flows, 2, &begin, &end), "flows after one another do not overlap");
    ok(!flows_window(flows + 2, 1, &begin, &end), "no flow, no window");
}

int main(void)
{
    tells_tight_from_loose();
    counts_outliers();
    finds_the_common_window();
    return tap_done();
}
