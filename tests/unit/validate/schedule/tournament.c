/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/tournament.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

/* Runs all rounds of `count` players and checks who met whom. */
static void check_tournament(int count)
{
    int rounds = tournament_rounds(count), byes = 0, odd_pairs = 0, wrong = 0;
    int *met_count = calloc((size_t)count * (size_t)count + 1, sizeof *met_count);

    for (int round = 0; round < rounds; round++) {
        for (int player = 0; player < count; player++) {
            int partner = tournament_partner(count, round, player);

            if (partner == TOURNAMENT_BYE) {
                byes++;
                continue;
            }
            if (partner < 0 || partner >= count || partner == player ||
                tournament_partner(count, round, partner) != player)
                odd_pairs++;
            else
                met_count[player * count + partner]++;
        }
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            wrong += met_count[a * count + b] != (a != b);
    is_int(rounds, count < 2 ? 0 : count % 2 ? count : count - 1, "%d players: rounds", count);
    is_int(odd_pairs, 0, "... every round is made of disjoint pairs");
    is_int(wrong, 0, "... every pair meets exactly once");
    is_int(byes, count > 1 && count % 2 ? count : 0,
           "... with an odd number each player rests once");
    free(met_count);
}

int main(void)
{
    for (int count = 0; count <= 17; count++)
        check_tournament(count);
    check_tournament(64);
    check_tournament(129);
    return tap_done();
}
