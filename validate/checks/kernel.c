/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include "lib/base/sysfs.h"
#include "lib/base/text.h"

/* host.kernel: the bits of the kernel's taint that show an error. The other bits are of modules and
 * settings that a site may want (Linux, Documentation/admin-guide/tainted-kernels.rst). */
static const struct {
    unsigned bit;
    const char *error;
} errors[] = {
    {4, "a machine check"},
    {5, "a bad page"},
    {7, "an oops"},
    {14, "a soft lockup"},
};

void check_kernel(const struct checks *checks)
{
    long long taint = sysfs_number(checks->root, "proc/sys/kernel/tainted");
    char list[128] = "";

    if (taint < 0) {
        checks_record(checks, "", VERDICT_SKIP, "cannot read /proc/sys/kernel/tainted");
        return;
    }
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (taint >> errors[i].bit & 1)
            text_join(list, sizeof list, ", ", "%s", errors[i].error);
    if (*list)
        checks_fault(checks, "", FAULT_KERNEL_TAINTED, "the kernel had %s since boot (taint %lld)",
                     list, taint);
    else
        checks_record(checks, "", VERDICT_PASS, "no kernel error since boot");
}
