/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/transport.h"

#include <stdio.h>
#include <string.h>

static bool has_lane(const char *text, const char *name)
{
    size_t wanted = strlen(name), length;

    for (; *text; text += length + (text[length] == '+')) {
        length = strcspn(text, "+");
        if (length == wanted && strncmp(text, name, length) == 0)
            return true;
    }
    return false;
}

void transport_read(const char *print, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (const char *lane = print; (lane = strstr(lane, "lane[")) != NULL; lane++) {
        char name[64];

        if (sscanf(lane, "lane[%*d]: %*d:%63[^ ]", name) != 1)
            continue;
        if (strrchr(name, '.'))
            *strrchr(name, '.') = '\0';
        if (!has_lane(text, name) && used + 1 + strlen(name) < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", name);
    }
}

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
