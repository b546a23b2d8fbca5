/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/output.h"

#include "tests/unit/capture.h"
#include "tests/unit/poor_memory.h"

/* A program of the battery must not end with success if a record was lost. */
int main(void)
{
    struct record record = RECORD(.test = "links", .value = 3, .verdict = VERDICT_PASS);
    bool has_failed;
    int before, after;

    output_start("muster-links", "links", true);
    capture_begin();
    output_record(&record);
    before = output_status();
    memory_fails_at(1);
    output_record(&record);
    has_failed = memory_has_failed();
    memory_fails_at(0);
    after = output_status();
    capture_end(1);
    is_int(before, 0, "a record that is written: success");
    if (has_failed)
        is_int(after, 3, "... a record without memory for it: unknown");
    else
        tap_skip("the sanitizer has its own memory");
    return tap_done();
}
