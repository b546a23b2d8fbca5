/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/tournament.h"

int tournament_rounds(int count)
{
    if (count < 2)
        return 0;
    return count % 2 == 0 ? count - 1 : count;
}

/* In round r two players meet whose numbers add up to r modulo the odd number of places on the
 * circle. One player of the circle would meet itself: it meets the player in the center, the last
 * one of an even number, or rests. */
int tournament_partner(int count, int round, int player)
{
    int places = tournament_rounds(count);
    int has_centre = count % 2 == 0;
    int partner;

    if (places == 0)
        return TOURNAMENT_BYE;
    if (has_centre && player == count - 1)
        /* 2 x partner = round (mod places): half of round, or of round + places when odd */
        return round % 2 == 0 ? round / 2 : (round + places) / 2;
    partner = ((round - player) % places + places) % places;
    if (partner != player)
        return partner;
    return has_centre ? count - 1 : TOURNAMENT_BYE;
}
