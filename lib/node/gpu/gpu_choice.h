/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_CHOICE_H
#define MUSTER_GPU_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/gpu/visible_gpus.h"
#include "lib/node/inventory.h"

/* The GPUs of one vendor that a task may use, in the order in which the vendor's library numbers
 * them. It starts with all GPUs that can be opened; then each variable restricts it. */
struct gpu_choice {
    const struct inventory *inventory;
    gpu_getenv_fn *getenv_fn;
    void *context;
    size_t gpus[INVENTORY_GPUS]; /* indexes in the inventory */
    size_t count;
    bool is_cut;    /* as visible_gpus's */
    char fact[256]; /* the variables that restrict it; cut if too long */
};

/* Adds a vendor's GPUs that can be opened to an empty choice, in the order of the inventory.
 * Returns 0, or -1 with the fact if that is not known for one of them. */
int gpu_choice_start(struct gpu_choice *choice, enum gpu_vendor vendor,
                     visible_gpus_open_fn *open_fn, void *open_context);

/* Adds "NAME=value" to the fact, on one line; cuts a long value. */
void gpu_choice_show(struct gpu_choice *choice, const char *name, const char *value);

/* Adds to the fact why the effect of a variable is not known. Returns -1. */
int gpu_choice_fail(struct gpu_choice *choice, const char *why);

/* Returns the GPU at this index of the choice; index < count. */
const struct gpu *gpu_choice_at(const struct gpu_choice *choice, size_t index);

/* Return whether all GPUs are of one model, and whether one of them is partitioned. */
bool gpu_choice_is_alike(const struct gpu_choice *choice);
bool gpu_choice_has_partitions(const struct gpu_choice *choice);

/* Keeps only the GPUs at these indexes of the choice, in this order. */
void gpu_choice_keep(struct gpu_choice *choice, const size_t *indexes, size_t count);

/* Returns the index of the one GPU whose ID begins with the prefix; the choice's count if there is
 * none or more than one; -1 if the ID of a GPU is not known. */
long gpu_choice_find_id(const struct gpu_choice *choice, const char *prefix, size_t length);

/* Sorts the choice by the driver's own numbers. Returns whether the driver reports them (true also
 * for a single GPU). */
bool gpu_choice_sort(struct gpu_choice *choice);

/* ---------------------------------------------------------------- lists of GPUs, with commas */

enum {
    GPU_LIST_WORD = 64, /* the longest name has 60 characters: "MIG-GPU-UUID/gi/ci" */
    GPU_LIST_NO_INDEX = -1,
};

/* Copies the next entry of a list into word, without surrounding white space. Cuts an entry that is
 * too long, which then names no GPU. Returns the rest of the list, or NULL after the last entry. */
const char *gpu_list_next(const char *list, char word[GPU_LIST_WORD]);

/* Returns the number at the beginning of a word, or if is_whole the number that the whole word is;
 * GPU_LIST_NO_INDEX if there is none. Returns INVENTORY_GPUS for any number above it. */
long gpu_list_index(const char *word, bool is_whole);

bool gpu_list_has(const size_t *indexes, size_t count, size_t index);

/* Returns is_one: whether the entry names a GPU. If it does not, notes in is_cut that the list is
 * cut there, except for an empty last entry (a comma at the end). */
bool gpu_choice_check_entry(struct gpu_choice *choice, const char *word, const char *rest,
                            bool is_one);

#endif
