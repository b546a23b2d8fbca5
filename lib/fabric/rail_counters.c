/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/rail_counters.h"

int rail_counters_read(const char *root, const struct rail *rail, struct counters *counters)
{
    int rv =
        counters_read(root, rail->nic ? rail->nic->name : "", rail->port ? rail->port->device : "",
                      rail->port ? rail->port->port : 0, counters);

    if (rail->port && rail->port->is_software)
        counters->lacks_rdma_bytes = false;
    return rv;
}
