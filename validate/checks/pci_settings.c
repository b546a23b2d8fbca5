/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <linux/pci_regs.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "lib/base/sysfs.h"

enum { SPACE = 4096, WITHOUT_ROOT = 64 };

struct space {
    unsigned char bytes[SPACE];
    size_t size;
};

static unsigned word_at(const struct space *space, size_t at)
{
    return at + 2 <= space->size ? space->bytes[at] | (unsigned)space->bytes[at + 1] << 8 : 0;
}

/* Returns the offset of the capability, or 0 if there is none. The bound ends a circular list. */
static size_t find_capability(const struct space *space, unsigned id)
{
    size_t at = word_at(space, PCI_CAPABILITY_LIST) & 0xfcu;

    for (int i = 0; i < 48 && at >= 0x40 && at + 2 <= space->size; i++) {
        if (space->bytes[at] == id)
            return at;
        at = space->bytes[at + 1] & 0xfcu;
    }
    return 0;
}

static size_t find_extended(const struct space *space, unsigned id)
{
    size_t at = PCI_CFG_SPACE_SIZE;

    for (int i = 0; i < 480 && at >= PCI_CFG_SPACE_SIZE && at + 4 <= space->size; i++) {
        if (word_at(space, at) == id)
            return at;
        at = word_at(space, at + 2) >> 4 & 0xffcu;
    }
    return 0;
}

void pci_settings_read(const char *root, const char *pci, struct pci_settings *settings)
{
    struct space space = {.size = 0};
    char path[SYSFS_PATH];
    ssize_t got;
    size_t express, access;
    int fd;

    *settings = (struct pci_settings){.redirects = -1};
    if (sysfs_path(root, path, sizeof path, "sys/bus/pci/devices/%s/config", pci) != 0)
        return;
    fd = regular_file_open(path, NULL);
    if (fd < 0)
        return;
    got = pread(fd, space.bytes, sizeof space.bytes, 0);
    close(fd);
    if (got <= WITHOUT_ROOT)
        return;
    space.size = (size_t)got;
    express = find_capability(&space, PCI_CAP_ID_EXP);
    if (express == 0 || word_at(&space, 0) == 0xffff) /* off the bus: all ones */
        return;
    settings->payload_bytes = 128 << (word_at(&space, express + PCI_EXP_DEVCTL) >> 5 & 7);
    settings->read_request_bytes = 128 << (word_at(&space, express + PCI_EXP_DEVCTL) >> 12 & 7);
    access = find_extended(&space, PCI_EXT_CAP_ID_ACS);
    if (access > 0)
        settings->redirects =
            (word_at(&space, access + PCI_ACS_CTRL) & (PCI_ACS_RR | PCI_ACS_CR)) != 0;
}
