/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/rates.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/quantity.h"
#include "lib/base/sysfs.h"
#include "lib/constants/checks_constants.h"
#include "lib/fabric/rail_counters.h"
#include "validate/checks/checks.h"
#include "validate/health/state_file.h"

#define RATES_FILE "/run/muster/rates"

#define COUNTER(field) #field, offsetof(struct counters, field)

/* net.rates: for each counter of a rail, the rate that is a warning. */
static const struct {
    const char *metric;
    const char *counter; /* the key of its samples */
    size_t offset;       /* in struct counters */
    const char *name;
    unsigned divisor;
    int window_s, most;
    enum fault_code code;
} rules[] = {
    {"crc_errors", COUNTER(rx_crc_errors), "CRC errors", 1, RATES_ERRORS_S, RATES_ERRORS_MOST,
     FAULT_LINK_ERRORS},
    {"symbol_errors", COUNTER(symbol_errors), "symbol errors", 1, RATES_ERRORS_S, RATES_ERRORS_MOST,
     FAULT_LINK_ERRORS},
    {"link_error_recovery", COUNTER(link_error_recovery), "link recoveries", 1, RATES_ERRORS_S,
     RATES_ERRORS_MOST, FAULT_LINK_ERRORS},
    /* down and up are two changes of the carrier */
    {"link_losses", COUNTER(link_downed), "link losses", 1, RATES_LOSSES_S, RATES_LOSSES_MOST,
     FAULT_LINK_FLAPS},
    {"link_losses", COUNTER(carrier_changes), "link losses", 2, RATES_LOSSES_S, RATES_LOSSES_MOST,
     FAULT_LINK_FLAPS},
    {"pcie_correctable", COUNTER(pcie_correctable), "corrected PCIe errors", 1, RATES_PCIE_S,
     RATES_PCIE_MOST, FAULT_PCIE_ERRORS},
};
enum { RULES = sizeof rules / sizeof *rules };

struct rates_check {
    const struct checks *checks;
    struct rates rates;
    int64_t now_s;
};

/* Returns 1 after a warning, else 0. */
static int check_counter(struct rates_check *check, const struct rail *rail, size_t rule,
                         const struct counters *counters)
{
    uint64_t value = *(const uint64_t *)((const char *)counters + rules[rule].offset);
    double grown = rates_update(&check->rates, rail->name, rules[rule].counter, value, check->now_s,
                                rules[rule].window_s) /
                   rules[rule].divisor;
    char window[32];

    if (grown <= rules[rule].most)
        return 0;
    quantity_format_time(rules[rule].window_s, window, sizeof window);
    checks_report(check->checks,
                  RECORD(.part = rail->name, .metric = rules[rule].metric, .value = grown,
                         .unit = "count", .verdict = VERDICT_WARN, .code = rules[rule].code),
                  "%s has %.0f %s in %s, expected at most %d", rail->name, grown, rules[rule].name,
                  window, rules[rule].most);
    return 1;
}

static void check_rail(struct rates_check *check, const struct rail *rail)
{
    struct counters counters;
    int warned = 0;

    if (rail_counters_read(check->checks->root, rail, &counters) < 0) {
        checks_record(check->checks, rail->name, VERDICT_SKIP, "%s has no counters", rail->name);
        return;
    }
    if (rail->port)
        counters_read_pci(check->checks->root, rail->port->location.pci, &counters);
    else if (rail->nic)
        counters_read_pci(check->checks->root, rail->nic->location.pci, &counters);
    for (size_t i = 0; i < RULES; i++)
        if (!counters_lacks(&counters, rules[i].offset))
            warned += check_counter(check, rail, i, &counters);
    if (warned == 0)
        checks_record(check->checks, rail->name, VERDICT_PASS, "no error counter grows too fast");
}

void check_rates(const struct checks *checks)
{
    struct rates_check check = {checks,
                                .now_s = 3600 /* a recorded tree: all is of the last hour */};
    char boot_id[sizeof check.rates.boot_id] = "-", *text = NULL;
    struct error err;

    sysfs_line(checks->root, boot_id, sizeof boot_id, "proc/sys/kernel/random/boot_id");
    if (!checks->root[0]) {
        check.now_s = (int64_t)clock_s();
        text = state_file_read(RATES_FILE);
    }
    if (!text || rates_parse(&check.rates, text, boot_id) < 0)
        rates_init(&check.rates, boot_id);
    free(text);
    for (size_t i = 0; i < checks->fabric->rail_count; i++)
        check_rail(&check, &checks->fabric->rails[i]);
    if (checks->fabric->rail_count == 0)
        checks_record(checks, "", VERDICT_SKIP, "no fabric rail");
    if (checks->keeps_state && state_file_write(RATES_FILE, rates_write, &check.rates, &err) < 0)
        checks_record(checks, "", VERDICT_UNKNOWN, "cannot save the counters: %s", err.text);
    rates_clear(&check.rates);
}
