/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/peer_rounds.h"

#include "lib/constants/battery_constants.h"
#include "validate/schedule/tournament.h"

int peer_rounds(int count)
{
    int rounds = tournament_rounds(count);

    return rounds < GPU_PEERS_MOST ? rounds : GPU_PEERS_MOST;
}

int peer_partner(int count, int round, int device)
{
    return tournament_partner(count, round * tournament_rounds(count) / peer_rounds(count), device);
}

bool peer_is_measured(int count, int device, int other)
{
    for (int round = 0; round < peer_rounds(count); round++)
        if (peer_partner(count, round, device) == other)
            return true;
    return false;
}
