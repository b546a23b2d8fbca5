/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TREE_H
#define MUSTER_TREE_H

#include <stddef.h>

/* File trees for tests, in a temporary directory. */

/* Unpacks tests/fixtures/NAME.tree; "" makes an empty tree. Returns the tree's root, malloc'd;
 * bails out of the test if that fails. */
char *tree_unpack(const char *name);

/* Returns the content of a file, valid until the next call; "nothing" if it cannot be read. */
const char *tree_text(const char *path);

/* Unpacks the tree, reads its inventory and removes it; bails out of the test if that fails. */
struct inventory *tree_inventory(const char *name);

/* Removes the tree and frees root. */
void tree_remove(char *root);

/* Writes a file below root and makes its directories. Replaces an existing file. */
void tree_put(const char *root, const char *path, const char *content);
void tree_put_bytes(const char *root, const char *path, const void *bytes, size_t size);

#endif
