/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/gpu_choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/node/gpu/vendor.h"

enum { SHOWN = 40 /* characters of a value that a fact shows */ };

int gpu_choice_start(struct gpu_choice *choice, enum gpu_vendor vendor,
                     visible_gpus_open_fn *open_fn, void *open_context)
{
    for (size_t i = 0; i < choice->inventory->gpu_count; i++) {
        const struct gpu *gpu = &choice->inventory->gpus[i];
        bool has_driver = gpu->driver[0] != '\0' && !gpu_is_passed_through(gpu);
        int answer;

        if (gpu->vendor != vendor || gpu->is_excluded ||
            (gpu->device_file[0] == '\0' && !has_driver))
            continue;
        answer = gpu->device_file[0] != '\0' ? open_fn(gpu->device_file, open_context) : -1;
        if (answer == 0 && gpu->is_partitioned && gpu_vendor_info(vendor)->has_partition_files)
            answer = -1; /* the file of another partition may be allowed */
        if (answer > 0)
            choice->gpus[choice->count++] = i;
        if (answer >= 0)
            continue;
        snprintf(choice->fact, sizeof choice->fact, "it is not known whether %s can be opened",
                 gpu->device_file[0] != '\0' ? gpu->device_file : gpu->location.pci);
        return -1;
    }
    return 0;
}

void gpu_choice_show(struct gpu_choice *choice, const char *name, const char *value)
{
    text_join(choice->fact, sizeof choice->fact, ", ", "%s=%.*s%s", name, SHOWN, value,
              strlen(value) > SHOWN ? "..." : "");
    text_make_ascii(choice->fact);
}

int gpu_choice_fail(struct gpu_choice *choice, const char *why)
{
    text_join(choice->fact, sizeof choice->fact, ": ", "%s", why);
    return -1;
}

const struct gpu *gpu_choice_at(const struct gpu_choice *choice, size_t index)
{
    return &choice->inventory->gpus[choice->gpus[index]];
}

bool gpu_choice_is_alike(const struct gpu_choice *choice)
{
    for (size_t i = 1; i < choice->count; i++)
        if (strcmp(gpu_choice_at(choice, i)->model, gpu_choice_at(choice, 0)->model) != 0)
            return false;
    return true;
}

bool gpu_choice_has_partitions(const struct gpu_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        if (gpu_choice_at(choice, i)->is_partitioned)
            return true;
    return false;
}

void gpu_choice_keep(struct gpu_choice *choice, const size_t *indexes, size_t count)
{
    size_t kept[INVENTORY_GPUS];

    for (size_t i = 0; i < count; i++)
        kept[i] = choice->gpus[indexes[i]];
    memcpy(choice->gpus, kept, count * sizeof *kept);
    choice->count = count;
}

long gpu_choice_find_id(const struct gpu_choice *choice, const char *prefix, size_t length)
{
    size_t matches = 0, found = choice->count;

    for (size_t i = 0; i < choice->count; i++) {
        const char *id = gpu_choice_at(choice, i)->serial;

        if (*id == '\0')
            return -1;
        if (strncasecmp(id, prefix, length) == 0) {
            found = i;
            matches++;
        }
    }
    return matches == 1 ? (long)found : (long)choice->count;
}

bool gpu_choice_sort(struct gpu_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        if (gpu_choice_at(choice, i)->ordinal < 0)
            return choice->count < 2;
    for (size_t i = 1; i < choice->count; i++)
        for (size_t j = i;
             j > 0 && gpu_choice_at(choice, j)->ordinal < gpu_choice_at(choice, j - 1)->ordinal;
             j--) {
            size_t other = choice->gpus[j];

            choice->gpus[j] = choice->gpus[j - 1];
            choice->gpus[j - 1] = other;
        }
    return true;
}

bool gpu_choice_check_entry(struct gpu_choice *choice, const char *token, const char *rest,
                            bool is_one)
{
    choice->is_cut = choice->is_cut || (!is_one && (*token != '\0' || rest != NULL));
    return is_one;
}

const char *gpu_list_next(const char *list, char token[GPU_LIST_WORD])
{
    size_t length = strcspn(list, ","), kept;
    const char *rest = list[length] == ',' ? list + length + 1 : NULL;

    while (length > 0 && isspace((unsigned char)*list)) {
        list++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)list[length - 1]))
        length--;
    kept = length < GPU_LIST_WORD ? length : GPU_LIST_WORD - 1;
    memcpy(token, list, kept);
    token[kept] = '\0';
    return rest;
}

long gpu_list_index(const char *token, bool is_whole)
{
    char *end;
    long number;

    if (!isdigit((unsigned char)*token) && *token != '+')
        return GPU_LIST_NO_INDEX;
    errno = 0;
    number = strtol(token, &end, 10);
    if (end == token || (is_whole && *end != '\0'))
        return GPU_LIST_NO_INDEX;
    return errno != 0 || number > INVENTORY_GPUS ? INVENTORY_GPUS : number;
}

bool gpu_list_has(const size_t *indexes, size_t count, size_t index)
{
    for (size_t i = 0; i < count; i++)
        if (indexes[i] == index)
            return true;
    return false;
}
