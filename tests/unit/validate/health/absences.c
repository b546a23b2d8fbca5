/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/absences.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static struct absences absences;

/* Passes the text that a check writes to the next check. */
static void next_check(const char *boot)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream || absences_write(&absences, stream) != 0 || fclose(stream) != 0)
        exit(99);
    absences_parse(&absences, text, boot);
    free(text);
}

static unsigned count_missing(enum fault_code code, const char *part)
{
    return absences_add(&absences, "gpu.health", code, part);
}

int main(void)
{
    char text[256], part[sizeof absences.items->part + 1] = "";

    absences_init(&absences, "boot");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), 1, "a missing GPU is counted once");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), 1, "... twice in one check counts once");
    next_check("boot");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), 2, "... in the next check as well");
    is_int(count_missing(FAULT_INTERFACE_MISSING, "eth1"), 1, "an interface has its own count");
    is_int(count_missing(FAULT_GPU_MISSING, "gpu3"), 1, "... and so has another fault");
    next_check("boot");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), ABSENCES_IN_A_ROW,
           "... missing for the third time it is reported");
    next_check("boot");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), ABSENCES_IN_A_ROW, "... and stays reported");
    is_int(count_missing(FAULT_INTERFACE_MISSING, "eth1"), 1,
           "a part that was present in between starts again");
    next_check("boot");
    next_check("boot");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), 1, "... and so does the GPU");
    next_check("other");
    is_int(count_missing(FAULT_GPU_LOST, "gpu3"), 1, "another boot starts again");

    ok(absences_concern(FAULT_LINK_DOWN) && absences_concern(FAULT_GPU_LINK_DOWN),
       "links that are down can be missing for a while");
    ok(absences_concern(FAULT_INTERFACE_MISSING) && absences_concern(FAULT_GPU_LOST),
       "... so can interfaces and GPUs");
    ok(absences_concern(FAULT_GRES_MISMATCH) && absences_concern(FAULT_GPU_NO_DRIVER),
       "while a driver is reloaded GPUs have no files and no driver");
    ok(absences_concern(FAULT_GPU_MISSING) && !absences_concern(FAULT_GPU_MEMORY_ERRORS),
       "missing parts can come back, broken ones do not");
    strcpy(text, "somebody else's\n");
    is_int(absences_parse(&absences, text, "boot"), -1, "a foreign text is refused");
    strcpy(text, "muster absences 2\nboot boot\n2 gpu.health gpu_lost gpu1\n"
                 "9999 gpu.health gpu_lost gpu2\nx\n2 gpu.health gpu_memory_errors gpu1\n"
                 "2 gpu.health gpu_lost\n2 gpu.health gpu_lost gpu3");
    is_int(absences_parse(&absences, text, "boot"), 0, "a text that was cut off is read");
    is_int(absences.count, 2, "... up to its last complete and valid line");
    is_str(absences.items[0].test, "gpu.health", "... with the test");
    is_int(count_missing(FAULT_GPU_LOST, "gpu2"), ABSENCES_IN_A_ROW, "... with counts limited");
    absences_init(&absences, "boot");
    memset(part, 'x', sizeof part - 1);
    is_int(count_missing(FAULT_LINK_DOWN, part + 1), 1, "the longest name of a part is counted");
    is_int(count_missing(FAULT_LINK_DOWN, part), ABSENCES_IN_A_ROW,
           "... a longer one is reported at once");
    absences_init(&absences, "boot");
    for (int i = 0; i < ABSENCES_MOST; i++) {
        snprintf(part, sizeof part, "eth%d", i);
        count_missing(FAULT_INTERFACE_MISSING, part);
    }
    is_int(count_missing(FAULT_INTERFACE_MISSING, "eth999"), ABSENCES_IN_A_ROW,
           "a part beyond the table's size is reported at once");
    return tap_done();
}
