/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOURNAMENT_H
#define MUSTER_TOURNAMENT_H

/* Who meets whom: the circle method of round-robin tournaments (Kirkman 1847; the table of
 * "Berger"). In each round the pairs are disjoint, so that all of them can measure at once, and
 * after the last round each pair has met exactly once. */

enum { TOURNAMENT_BYE = -1 };

/* Rounds that count players need: count - 1 when even, count when odd, 0 for fewer than two. */
int tournament_rounds(int count);

/* The partner of player in a round (0 <= round < tournament_rounds(count)), or TOURNAMENT_BYE when
 * count is odd and this one rests. The partner's partner is the player. */
int tournament_partner(int count, int round, int player);

#endif
