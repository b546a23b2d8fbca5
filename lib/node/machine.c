/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether the flags of an x86 processor have "hypervisor" (CPUID leaf 1, ECX bit 31, which
 * is reserved for hypervisors): 1 yes, 0 no, -1 if there are no flags. */
static int flags_show_virtual(const char *cpuinfo)
{
    const char *flags = strncmp(cpuinfo, "flags", 5) == 0 ? cpuinfo : strstr(cpuinfo, "\nflags");
    const char *found, *end;

    if (!flags)
        return -1;
    flags++;
    end = flags + strcspn(flags, "\n");
    found = strstr(flags, " hypervisor");
    return found && found < end && (found[11] == ' ' || found[11] == '\n' || found[11] == '\0');
}

/* Returns whether the firmware's manufacturer and product (SMBIOS type 1) are a virtual machine's.
 * Used on other processors. A cloud's real machines have the cloud's name too, so for some
 * manufacturers the product decides. */
static bool is_virtual_product(const char *vendor, const char *product)
{
    static const char *const makers[] = {
        "QEMU", "VMware, Inc.", "Xen", "KVM", "OpenStack Foundation", "innotek GmbH", "Red Hat"};

    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(vendor, makers[i]) == 0)
            return true;
    if (strcmp(vendor, "Amazon EC2") == 0)
        return !strstr(product, "metal");
    return (strcmp(vendor, "Microsoft Corporation") == 0 &&
            strcmp(product, "Virtual Machine") == 0) ||
           (strcmp(vendor, "Google") == 0 && strcmp(product, "Google Compute Engine") == 0) ||
           strcmp(product, "KVM Virtual Machine") == 0;
}

bool machine_is_virtual(const char *root)
{
    char vendor[INVENTORY_NAME], product[INVENTORY_NAME];
    char *cpuinfo = sysfs_file(root, 16384, "proc/cpuinfo");
    int answer = cpuinfo ? flags_show_virtual(cpuinfo) : -1;

    free(cpuinfo);
    if (answer >= 0)
        return answer;
    sysfs_line(root, vendor, sizeof vendor, "sys/class/dmi/id/sys_vendor");
    sysfs_line(root, product, sizeof product, "sys/class/dmi/id/product_name");
    return is_virtual_product(vendor, product);
}
