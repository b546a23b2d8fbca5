/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/pair/pair_run.h"

int pair_run_probe(struct pair_run *pair_run, int own, const struct rail_info *theirs,
                   uint64_t session, bool drives, const struct control_idle *idle,
                   int *path_mtu_bytes)
{
    const struct probe *probe = pair_run->rails->probes[own];
    const struct probe_address *address = &pair_run->rails->own.rails[own].probe;
    bool is_cut = true;

    *path_mtu_bytes = -1;
    for (int i = 0; i < PROBE_TIMES && is_cut; i++) {
        int mine = -1, other = -1;
        uint64_t own_session = session | (uint64_t)i << 60; /* late ones do not count */

        if (drives)
            probe_send(probe, &theirs->probe, own_session);
        else
            mine = probe_receive(probe, &theirs->probe, own_session);
        if (control_exchange(pair_run->control, &mine, &other, sizeof mine, idle) != 0)
            return -1;
        mine = drives ? other : mine;
        *path_mtu_bytes = mine > *path_mtu_bytes ? mine : *path_mtu_bytes;
        is_cut = probe_is_cut(address, &theirs->probe, *path_mtu_bytes);
    }
    return is_cut && (drives ? address : &theirs->probe)->hangs_if_cut;
}
