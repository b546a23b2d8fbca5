/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/inventory-parts.h"
#include "lib/base/sysfs.h"

#include <stdlib.h>
#include <string.h>

/* x86 processors say it themselves: CPUID leaf 1, ECX bit 31, reserved for hypervisors, is the flag
 * "hypervisor". 1 yes, 0 no, -1 when no flags are told. */
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

/* Elsewhere the firmware's tables name the maker of the machine (SMBIOS type 1). A cloud's real
 * machines carry the cloud's name too, so that some products must be told apart. */
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
