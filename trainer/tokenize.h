/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOKENIZE_H
#define MUSTER_TOKENIZE_H

/* muster-train tokenize: argv[0] is "tokenize". Returns the exit status. */
int tokenize_main(int argc, char **argv);

#endif
