/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded beside libumad2sim.so: the program sees the simulated subnet, the programs that it
 * starts do not. */
#include <stdlib.h>

__attribute__((constructor)) static void forget(void)
{
    unsetenv("LD_PRELOAD");
}
