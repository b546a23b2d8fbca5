/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/path/transport.h"

#include <string.h>

bool transport_is_on(const char *transport, const char *device, bool is_rdma)
{
    for (const char *lane = transport; *lane;) {
        size_t length = strcspn(lane, "+"), kind = strcspn(lane, "/+");
        bool is_tcp = kind == 3 && strncmp(lane, "tcp", 3) == 0;

        if (kind == length || length - kind - 1 != strlen(device) ||
            strncmp(lane + kind + 1, device, strlen(device)) != 0 || is_tcp == is_rdma)
            return false;
        lane += length + (lane[length] == '+');
    }
    return true;
}
