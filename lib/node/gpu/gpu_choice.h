/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_CHOICE_H
#define MUSTER_GPU_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/gpu/visible_gpus.h"
#include "lib/node/inventory.h"

/* The GPUs of one vendor that are left, in the order in which its library would number them: first
 * all that can be opened, then those that a variable after the other leaves. */
struct gpu_choice {
    const struct inventory *inventory;
    gpu_getenv_fn *getenv_fn;
    void *context;
    size_t gpus[INVENTORY_GPUS]; /* places in the inventory */
    size_t count;
    bool is_cut;    /* as visible_gpus's */
    char fact[256]; /* what made it so; cut */
};

/* The GPUs of a vendor that can be opened, in the order of the inventory; the choice is empty
 * before. Returns 0, or -1 with the fact when that cannot be told of one. */
int gpu_choice_start(struct gpu_choice *choice, enum gpu_vendor vendor,
                     visible_gpus_open_fn *open_fn, void *open_context);

/* Adds "NAME=value" to the fact, a long value cut, on one line. */
void gpu_choice_show(struct gpu_choice *choice, const char *name, const char *value);

/* Adds why it is not known what the variable leaves. Returns -1. */
int gpu_choice_fail(struct gpu_choice *choice, const char *why);

/* The GPU at that place of the choice, below its count. */
const struct gpu *gpu_choice_at(const struct gpu_choice *choice, size_t place);

/* Whether all are of one model, and whether one of them is partitioned. */
bool gpu_choice_is_alike(const struct gpu_choice *choice);
bool gpu_choice_has_partitions(const struct gpu_choice *choice);

/* Leaves the GPUs at these places of the choice, in this order. */
void gpu_choice_keep(struct gpu_choice *choice, const size_t *places, size_t count);

/* The place of the one GPU whose id begins with the prefix: the choice's count when there is none
 * or more than one, -1 when the driver does not tell the id of a GPU that might be it. */
long gpu_choice_find_id(const struct gpu_choice *choice, const char *prefix, size_t length);

/* Puts the choice in the order of the drivers' own numbers. Returns whether they tell it. */
bool gpu_choice_sort(struct gpu_choice *choice);

/* ---------------------------------------------------------------- lists of GPUs, with commas */

enum {
    GPU_LIST_WORD = 64, /* the longest name has 60 characters: "MIG-GPU-UUID/gi/ci" */
    GPU_LIST_NO_INDEX = -1,
};

/* The next entry of a list, without white space around it; cut at the word's size, which makes it a
 * name of nothing. Returns the rest, or NULL after the last. */
const char *gpu_list_next(const char *list, char word[GPU_LIST_WORD]);

/* The number that a word begins with, or is as a whole; numbers past any index are all alike.
 * GPU_LIST_NO_INDEX for none. */
long gpu_list_index(const char *word, bool is_whole);

bool gpu_list_has(const size_t *places, size_t count, size_t place);

/* Whether the list goes on after a word that is a GPU's or none's; notes that it is cut there. A
 * comma at the end is forgiven. */
bool gpu_choice_names_one(struct gpu_choice *choice, const char *word, const char *rest,
                          bool is_one);

#endif
