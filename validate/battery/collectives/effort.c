/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/effort.h"

enum { ODD_LEAST = 15, ODD_MOST = 1023, ELEMENT_BYTES = 8 };

void effort_begin(struct effort *effort, size_t planned)
{
    effort->passed += effort->planned_now;
    effort->planned_now = planned;
    effort->run_now = 0;
}

void effort_add(struct effort *effort)
{
    effort->run++;
    effort->run_now++;
}

bool effort_has_time(struct effort *effort, double elapsed_s)
{
    double until = (double)(effort->passed + effort->planned_now) / (double)effort->planned;

    effort->elapsed_s = elapsed_s;
    return effort->run_now < EFFORT_LEAST || elapsed_s < until * effort->allowed_s;
}

double effort_coverage(const struct effort *effort)
{
    return effort->run < effort->planned ? (double)effort->run / (double)effort->planned : 1;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Steps of about the golden section of count leave no large gaps. */
size_t effort_order(size_t number, size_t count)
{
    size_t step = count * 618 / 1000;

    while (step > 1 && common_divisor(step, count) != 1)
        step--;
    return number * (step > 0 ? step : 1) % count;
}

int effort_odd(size_t ranks, size_t most_bytes)
{
    size_t count = most_bytes / ELEMENT_BYTES / ranks;

    if (count >= ODD_MOST)
        return ODD_MOST;
    if (count <= ODD_LEAST)
        return ODD_LEAST;
    return (int)((count - 1) | 1);
}
