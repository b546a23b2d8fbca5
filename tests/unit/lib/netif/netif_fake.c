/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lib/netif/netif_fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/tap.h"

enum { INTERFACES = 2 };

static struct fake {
    char name[NETIF_NAME];
    int index;
    long values[NETIF_SETTINGS];
} * fakes;

static const long first_values[NETIF_SETTINGS] = {
    [NETIF_TXQUEUELEN] = 1000, [NETIF_MTU] = 1500, [NETIF_RP_FILTER] = 1, [NETIF_ROCE_MODE] = 1};

long fake_all_rp_filter;
int fake_refuse;
bool (*fake_step)(void);

static struct fake *fake_of(const char *interface)
{
    for (int i = 0; i < INTERFACES; i++)
        if (strcmp(fakes[i].name, interface) == 0)
            return &fakes[i];
    abort();
}

static int find(void *context, const char *name, int *index, char found_name[NETIF_NAME],
                struct error *err)
{
    if (fake_step && fake_step())
        return error_set(err, "refused");
    for (int i = 0; i < INTERFACES; i++)
        if (name ? strcmp(fakes[i].name, name) == 0 : fakes[i].index == *index) {
            *index = fakes[i].index;
            strcpy(found_name, fakes[i].name);
            return 0;
        }
    return 1;
}

static int get(void *context, const char *name, int index, enum netif_setting setting, long *value,
               struct error *err)
{
    if (fake_step && fake_step())
        return error_set(err, "refused");
    if (setting == NETIF_RX_RING || setting == NETIF_TX_RING)
        return error_set(err, "no rings");
    /* as in the kernel: without the directory there are no files in it */
    if ((setting == NETIF_ROCE_MODE || setting == NETIF_ROCE_TOS) &&
        !fake_value(name, NETIF_ROCE_CONFIG))
        return error_set(err, "no directory");
    *value = fake_value(name, setting);
    return 0;
}

static int set(void *context, const char *name, int index, enum netif_setting setting, long value,
               struct error *err)
{
    errno = fake_refuse;
    if (fake_refuse != 0 || (fake_step && fake_step()))
        return error_set(err, "refused");
    if (setting == NETIF_MTU && value > 10000)
        return error_set(err, "limit 10000");
    fake_set(name, setting, setting == NETIF_TXQUEUELEN && value == 777 ? 768 : value);
    return 0;
}

static int has_address(void *context, int index, const char *wanted, struct error *err)
{
    errno = EINTR; /* as after a list that was read again */
    return 0;
}

static long effective(void *context, enum netif_setting setting, long value)
{
    return setting == NETIF_RP_FILTER && fake_all_rp_filter > value ? fake_all_rp_filter : value;
}

struct netif_machine fake_machine = {NULL, "", find, get, set, has_address, effective};

void fake_reset(void)
{
    if (!fakes)
        fakes = mmap(NULL, INTERFACES * sizeof *fakes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < INTERFACES; i++) {
        strcpy(fakes[i].name, i == 0 ? "eth1" : "eth2");
        fakes[i].index = 3 + i;
        memcpy(fakes[i].values, first_values, sizeof first_values);
    }
    strcpy(fake_machine.boot_id, "571a17f9-6ccc");
}

long fake_value(const char *interface, enum netif_setting setting)
{
    return fake_of(interface)->values[setting];
}

void fake_set(const char *interface, enum netif_setting setting, long value)
{
    fake_of(interface)->values[setting] = value;
}

void fake_replace(const char *interface)
{
    struct fake *fake = fake_of(interface);

    fake->index += 10;
    memcpy(fake->values, first_values, sizeof first_values);
}

bool fake_has_initial_values(void)
{
    for (int i = 0; i < INTERFACES; i++)
        if (memcmp(fakes[i].values, first_values, sizeof first_values) != 0)
            return false;
    return true;
}

void fake_apply(const char *journal_path, const char *text, uint32_t job,
                struct netif_report *report)
{
    struct netif_line line;

    if (netif_line_parse(text, &line, NULL) != 0)
        abort();
    line.line = 7;
    netif_apply(journal_path, 1000, &fake_machine, &line, 1, job, report);
    netif_line_clear(&line);
}
