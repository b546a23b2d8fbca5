/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/samples.h"
#include "tests/unit/tap.h"
#include "validate/battery/links/path/transport.h"

#include <math.h>

static void separates_tight_from_loose(void)
{
    double samples[40];

    for (int i = 0; i < 40; i++)
        samples[i] = i % 4 == 0 ? 150 : 200 + i % 3;
    ok(!samples_are_tight(samples, 4), "of four samples even one low one counts");
    ok(samples_are_tight(samples, 40), "of forty with a quarter low the median is certain");
    ok(!samples_are_tight(samples, 0), "no sample: nothing is certain");
    ok(samples_are_tight((double[]){197, 200, 203, 199}, 4), "within 5 %%: tight");
    ok(!samples_are_tight((double[]){197, 200, 212, 199}, 4), "6 %% above: not");
}

/* A link of 200 Mb/s with a sample every 40 ms. */
static void finds_what_arrived(void)
{
    struct arrival arrivals[17];

    for (int i = 0; i < 17; i++)
        arrivals[i] = (struct arrival){0.04 * i, 1e6 * i, 1e6 * i};
    is_near(arrivals_best_mbps(arrivals, 17), 200, 0.1, "a steady stream");
    /* nothing arrives for 400 ms: the sender paused */
    for (int i = 9; i < 17; i++)
        arrivals[i].time_s += 0.4;
    is_near(arrivals_best_mbps(arrivals, 17), 200, 0.1, "... a pause does not change its speed");
    /* the receiver slept for 320 ms and then read all at once */
    for (int i = 0; i < 17; i++)
        arrivals[i] =
            (struct arrival){i < 9 ? 0.04 * i : 0.64 + 1e-4 * i, 1e6 * i, i < 9 ? 1e6 * i : 16e6};
    is_near(arrivals_best_mbps(arrivals, 17), 200, 1,
            "reading a backlog at once does not raise the speed");
    /* the counter is updated every 320 ms only */
    for (int i = 0; i < 17; i++)
        arrivals[i] = (struct arrival){0.04 * i, 1e6 * i, i < 8 ? 0 : i < 16 ? 8e6 : 16e6};
    is_near(arrivals_best_mbps(arrivals, 17), 200, 1, "... nor does a counter that jumps");
    is_near(arrivals_best_mbps(arrivals, 1), 0, 0, "one sample has no speed");
    is_near(arrivals_best_mbps(arrivals, 0), 0, 0, "... nor has none");
}

static void counts_outliers(void)
{
    double samples[] = {200, 199, 201, 200, 120, 200, 198, 202, 60};

    is_int(samples_outliers(samples, 9), 2, "two samples are outliers");
    is_int((long)samples_lowest(samples, 9), 60, "... with the lowest value");
    is_int(samples_outliers(samples, 4), 0, "a steady link has none");
    is_int(samples_outliers((double[]){100, 150, 200, 250}, 4), 0, "... nor has an unsteady link");
    is_int(samples_outliers(samples, 0), 0, "... nor has an empty set");
    ok(isnan(samples_lowest(samples, 0)), "... which has no lowest");
}

static void intervals_hold_their_figure(void)
{
    double samples[16], low, high;

    for (int i = 0; i < 16; i++)
        samples[i] = 196 + i % 4;
    samples_interval(samples, 16, NAN, &low, &high);
    ok(low == 196 && high == 199, "an interval of the median alone (%g to %g)", low, high);
    samples_interval(samples, 16, 197.5, &low, &high);
    ok(low == 196 && high == 199, "a value inside does not change the interval");
    samples[7] = 20; /* a pause of 400 ms in a stream of 1 s */
    samples_interval(samples, 16, 125, &low, &high);
    ok(low == 125 && high == 198, "a pause lowers the value, and the interval is extended to it");
    samples_interval(samples, 16, 200.5, &low, &high);
    ok(low == 196 && high == 200.5, "... and to a value above");
    samples_interval(samples, 0, 125, &low, &high);
    ok(isnan(low) && isnan(high), "no samples, no interval");
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
    is_int(lround(flow_mbps(&flows[0], 0, 100)), 0, "over 100 s its mean is near zero");
    early[2] = 11.2;
    ok(!flows_window(flows, 2, &begin, &end), "flows after one another do not overlap");
    ok(!flows_window(flows + 2, 1, &begin, &end), "no flow, no window");
}

static void reads_transports(void)
{
    static const char print[] = "# UCP endpoint\n"
                                "#      lane[0]:  0:tcp/eth10.0 md[0] -> md[0]/tcp/sysdev[255]\n"
                                "#      lane[1]:  0:tcp/eth10.1 md[0] -> md[0]/tcp/sysdev[255]\n"
                                "#      lane[2]:  1:tcp/eth1.0 md[0] -> md[0]/tcp/sysdev[255]\n";
    char text[32];

    transport_read(print, text, sizeof text);
    is_str(text, "tcp/eth10+tcp/eth1", "each transport is listed once, by its full name");
    transport_read(print, text, sizeof "tcp/eth10+tcp/eth");
    is_str(text, "tcp/eth10", "... and names are not cut off");
    transport_read("", text, sizeof text);
    is_str(text, "", "... no transport gives an empty text");
}

static void finds_another_transport(void)
{
    ok(transport_is_on("tcp/eth1", "eth1", false), "TCP on the interface");
    ok(!transport_is_on("tcp/eth2", "eth1", false), "TCP on another interface");
    ok(!transport_is_on("tcp/eth11", "eth1", false), "... whose name is longer");
    ok(transport_is_on("rc_mlx5/mlx5_0:1+ud_mlx5/mlx5_0:1", "mlx5_0:1", true), "verbs on the port");
    ok(!transport_is_on("rc_mlx5/mlx5_0:1+tcp/eth1", "mlx5_0:1", true), "one lane falls back");
    ok(!transport_is_on("tcp/mlx5_0:1", "mlx5_0:1", true), "TCP where verbs should be");
    ok(!transport_is_on("rc_mlx5/eth1", "eth1", false), "verbs where TCP should be");
    ok(!transport_is_on("self", "eth1", false), "a transport without a device");
    ok(transport_is_on("", "eth1", false), "no transport information is no proof");
}

int main(void)
{
    reads_transports();
    finds_another_transport();
    separates_tight_from_loose();
    counts_outliers();
    finds_what_arrived();
    intervals_hold_their_figure();
    finds_the_common_window();
    return tap_done();
}
