/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/condition.h"

#include "lib/base/clock.h"
#include "tests/unit/tap.h"

int main(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed;
    double begin_s = clock_s(), waited_s;
    bool is_woken = true;

    is_int(condition_init(&changed), 0, "a condition is initialized");
    pthread_mutex_lock(&lock);
    while (is_woken && clock_s() < begin_s + 5)
        is_woken = condition_wait(&changed, &lock, begin_s + 0.2);
    waited_s = clock_s() - begin_s;
    pthread_mutex_unlock(&lock);
    ok(!is_woken, "... and its wait ends if nobody signals it");
    ok(waited_s >= 0.2 && waited_s < 5, "... at the deadline on the monotonic clock (%.3f s)",
       waited_s);
    pthread_cond_destroy(&changed);
    return tap_done();
}
