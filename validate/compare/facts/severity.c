/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/majority.h"

#include "lib/node/gpu/vendor.h"

enum verdict fact_severity(const char *name, const char **reason)
{
    const struct catalog_metric *fact = catalog_fact(name);
    enum gpu_vendor vendor = gpu_vendor_by_driver_fact(name);

    if (reason)
        *reason = fact                  ? fact->why
                  : vendor != GPU_OTHER ? gpu_vendor_info(vendor)->driver_difference
                                        : "differs from the peers";
    return catalog_fault(fact_code(name))->severity;
}

enum fault_code fact_code(const char *name)
{
    const struct catalog_metric *fact = catalog_fact(name);

    return fact ? fact->deviation : FAULT_CONFIG_DIFFERS;
}
