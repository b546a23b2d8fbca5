/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TREE_H
#define MUSTER_TREE_H

/* Trees of files for tests, in a temporary directory. */

/* Unpacks tests/fixtures/NAME.tree; "" makes an empty tree. Returns its root, malloc'd; bails out
 * of the test when that fails. */
char *tree_unpack(const char *name);

/* What a file has, until the next call; "nothing" where it cannot be read. */
const char *tree_text(const char *path);

/* Reads the inventory of such a tree; bails out of the test when that fails. */
struct inventory *tree_inventory(const char *name);

/* Removes the tree and frees root. */
void tree_remove(char *root);

/* Writes a file below root, directories made; an existing one is replaced. */
void tree_put(const char *root, const char *path, const char *content);

#endif
