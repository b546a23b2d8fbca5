/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/visible_gpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/envplan/gpu_choice.h"
#include "lib/node/device.h"

enum {
    TOKEN = 64,        /* the longest name of a device has 60 characters: "MIG-GPU-UUID/gi/ci" */
    NOT_AN_INDEX = -1, /* of token_index() */
};

int visible_gpus_open(const char *device_file, void *root)
{
    int answer = device_access(root, device_file);

    return answer < 0 ? -1 : answer == 0;
}

/* ---------------------------------------------------------------- lists */

/* Whether the list goes on after a token that is a GPU's or none's. A comma at the end is forgiven.
 */
static bool names_one(struct gpu_choice *choice, const char *token, const char *rest, bool is_one)
{
    choice->is_cut = choice->is_cut || (!is_one && (*token != '\0' || rest != NULL));
    return is_one;
}

/* The next entry of a list, without white space around it; cut at the token's size, which makes it
 * a name of nothing. Returns the rest, or NULL after the last. */
static const char *next_token(const char *list, char token[TOKEN])
{
    size_t length = strcspn(list, ","), kept;
    const char *rest = list[length] == ',' ? list + length + 1 : NULL;

    while (length > 0 && isspace((unsigned char)*list)) {
        list++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)list[length - 1]))
        length--;
    kept = length < TOKEN ? length : TOKEN - 1;
    memcpy(token, list, kept);
    token[kept] = '\0';
    return rest;
}

/* The number that a token begins with, or is as a whole; numbers past any index are all alike. */
static long token_index(const char *token, bool is_whole)
{
    char *end;
    long number;

    if (!isdigit((unsigned char)*token) && *token != '+')
        return NOT_AN_INDEX;
    errno = 0;
    number = strtol(token, &end, 10);
    if (end == token || (is_whole && *end != '\0'))
        return NOT_AN_INDEX;
    return errno != 0 || number > INVENTORY_GPUS ? INVENTORY_GPUS : number;
}

static bool has_place(const size_t *places, size_t count, size_t place)
{
    for (size_t i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

/* ---------------------------------------------------------------- NVIDIA */

/* Why an index does not tell which GPU it means, or NULL. */
static const char *nvidia_index_problem(const struct gpu_choice *choice)
{
    const char *order = choice->getenv_fn("CUDA_DEVICE_ORDER", choice->context);

    if (choice->count < 2)
        return NULL;
    if (gpu_choice_has_partitions(choice))
        return "GPUs with MIG instances have no indices of their own";
    if ((order == NULL || strcmp(order, "PCI_BUS_ID") != 0) && !gpu_choice_is_alike(choice))
        return "CUDA numbers different models by speed, unless CUDA_DEVICE_ORDER=PCI_BUS_ID";
    return NULL;
}

/* "MIG-GPU-UUID/gi/ci" carries the GPU's UUID, "MIG-UUID" only its own: then there must be just
 * one GPU that it can be on. As gpu_choice_find_id(). */
static long nvidia_find_mig(const struct gpu_choice *choice, const char *token)
{
    const char *id = token + strlen("MIG-");
    size_t partitioned = 0, found = 0;

    if (strncmp(id, "GPU-", strlen("GPU-")) == 0)
        return gpu_choice_find_id(choice, id, strcspn(id, "/"));
    for (size_t i = 0; i < choice->count; i++)
        if (gpu_choice_at(choice, i)->is_partitioned) {
            partitioned++;
            found = i;
        }
    if (choice->count == 1)
        return 0;
    return partitioned == 1 ? (long)found : -1;
}

/* The first entry says whether the list is of GPUs, of MIG devices or of indices. */
static int nvidia_filter(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("CUDA_VISIBLE_DEVICES", choice->context);
    const char *why_no_index = nvidia_index_problem(choice), *prefix = "";
    size_t places[INVENTORY_GPUS], count = 0;
    char token[TOKEN];

    if (list == NULL)
        return choice->count > 1 && gpu_choice_has_partitions(choice)
                   ? gpu_choice_fail(choice, "GPUs with MIG instances, and no CUDA_VISIBLE_DEVICES")
                   : 0;
    gpu_choice_show(choice, "CUDA_VISIBLE_DEVICES", list);
    next_token(list, token);
    if (strncmp(token, "GPU-", 4) == 0 || strncmp(token, "MIG-", 4) == 0)
        prefix = *token == 'G' ? "GPU-" : "MIG-";
    for (const char *rest = list; rest != NULL;) {
        long place;

        rest = next_token(rest, token);
        if (!names_one(choice, token, rest, strncmp(token, prefix, strlen(prefix)) == 0))
            break;
        place = *prefix == 'G'   ? gpu_choice_find_id(choice, token, strlen(token))
                : *prefix == 'M' ? nvidia_find_mig(choice, token)
                                 : token_index(token, false);
        if (*prefix == '\0' && !names_one(choice, token, rest, place != NOT_AN_INDEX))
            break;
        if (place < 0)
            return gpu_choice_fail(choice, "which GPU that is, the driver does not tell");
        if (!names_one(choice, token, rest, place < (long)choice->count))
            break;
        if (*prefix == '\0' && why_no_index != NULL)
            return gpu_choice_fail(choice, why_no_index);
        if (!has_place(places, count, (size_t)place)) {
            places[count++] = (size_t)place;
        } else if (*prefix != 'M') { /* two MIG devices may be of one GPU */
            count = 0;               /* any other double makes the list void */
            choice->is_cut = true;
            break;
        }
    }
    gpu_choice_keep(choice, places, count);
    return 0;
}

/* ---------------------------------------------------------------- AMD */

/* An entry of ROCR_VISIBLE_DEVICES: the place of its GPU; choice->count for none; -1 when the ids
 * are not told. */
static long amd_find(const struct gpu_choice *choice, const char *token)
{
    char *end;
    long place;

    if (toupper((unsigned char)*token) == 'G') {
        if (strncasecmp(token, "GPU-", 4) != 0 || strlen(token) < 5 || strlen(token) > 20)
            return (long)choice->count;
        return gpu_choice_find_id(choice, token + 4, strlen(token + 4));
    }
    place = strtol(token, &end, 0); /* saturates */
    return end == token || *end != '\0' || place < 0 || place > (long)choice->count
               ? (long)choice->count
               : place;
}

/* is_rocr: ROCR_VISIBLE_DEVICES, which a double ends; HIP passes over it. */
static int amd_filter(struct gpu_choice *choice, const char *name, const char *list, bool is_rocr,
                      const char *why_no_index)
{
    size_t places[INVENTORY_GPUS], count = 0;
    char token[TOKEN];

    gpu_choice_show(choice, name, list);
    for (const char *rest = list; rest != NULL;) {
        bool is_id, is_double;
        long place;

        rest = next_token(rest, token);
        is_id = strncasecmp(token, "GPU-", 4) == 0;
        if (is_rocr || is_id) {
            place = amd_find(choice, token);
        } else {
            bool is_canonical = isdigit((unsigned char)*token) && (*token != '0' || !token[1]);

            place = is_canonical ? token_index(token, true) : NOT_AN_INDEX;
            if (!names_one(choice, token, rest, place != NOT_AN_INDEX))
                break;
        }
        if (place < 0)
            return gpu_choice_fail(choice, "which GPU that is, the driver does not tell");
        if (!names_one(choice, token, rest, place < (long)choice->count))
            break;
        if (!is_id && why_no_index != NULL)
            return gpu_choice_fail(choice, why_no_index);
        is_double = has_place(places, count, (size_t)place);
        if (is_double && is_rocr)
            break;
        if (!is_double)
            places[count++] = (size_t)place;
    }
    gpu_choice_keep(choice, places, count);
    return 0;
}

static int amd_filters(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("ROCR_VISIBLE_DEVICES", choice->context);
    const char *name = "HIP_VISIBLE_DEVICES", *why_no_index = NULL;

    if (!gpu_choice_sort(choice))
        why_no_index = "the driver does not tell how it numbers the GPUs";
    else if (choice->count > 1 && gpu_choice_has_partitions(choice))
        why_no_index = "the indices are of partitions, not of GPUs";
    if (list != NULL && amd_filter(choice, "ROCR_VISIBLE_DEVICES", list, true, why_no_index) < 0)
        return -1;
    list = choice->getenv_fn(name, choice->context);
    if (list == NULL || *list == '\0') {
        name = "CUDA_VISIBLE_DEVICES";
        list = choice->getenv_fn(name, choice->context);
    }
    if (list == NULL || *list == '\0')
        return 0;
    if (why_no_index == NULL && !gpu_choice_is_alike(choice))
        why_no_index = "HIP numbers different models its own way";
    return amd_filter(choice, name, list, false, why_no_index);
}

/* ---------------------------------------------------------------- Gaudi */

/* The number at the end of "/dev/accel/accel5" or "/dev/hl5". */
static long device_number(const struct gpu *gpu)
{
    const char *digits = gpu->device_file + strlen(gpu->device_file);

    while (digits > gpu->device_file && isdigit((unsigned char)digits[-1]))
        digits--;
    return *digits != '\0' ? strtol(digits, NULL, 10) : -1;
}

static long gaudi_find(const struct gpu_choice *choice, long number, bool is_module)
{
    for (size_t i = 0; i < choice->count; i++)
        if ((is_module ? gpu_choice_at(choice, i)->ordinal
                       : device_number(gpu_choice_at(choice, i))) == number)
            return (long)i;
    return -1;
}

static int gaudi_filter(struct gpu_choice *choice)
{
    static const char *const names[] = {"HLS_MODULE_ID", "HABANA_VISIBLE_MODULES",
                                        "HABANA_VISIBLE_DEVICES"};
    size_t places[INVENTORY_GPUS], count = 0, i = 0;
    const char *list = NULL;
    char token[TOKEN];

    for (; i < 3 && (list == NULL || *list == '\0'); i++)
        list = choice->getenv_fn(names[i], choice->context);
    if (list == NULL || *list == '\0' || strcmp(list, "all") == 0)
        return 0;
    gpu_choice_show(choice, names[i - 1], list);
    for (size_t j = 0; j < choice->count && i < 3; j++)
        if (gpu_choice_at(choice, j)->ordinal < 0)
            return gpu_choice_fail(choice, "the driver does not tell the numbers of modules");
    for (const char *rest = list; rest != NULL;) {
        long number, place;

        rest = next_token(rest, token);
        number = token_index(token, true);
        if (number == NOT_AN_INDEX)
            return gpu_choice_fail(choice, "not a list of numbers");
        place = gaudi_find(choice, number, i < 3);
        if (!names_one(choice, token, rest, place >= 0))
            return gpu_choice_fail(choice, i < 3
                                               ? "no module that can be opened has such a number"
                                               : "no device that can be opened has such a number");
        if (!has_place(places, count, (size_t)place))
            places[count++] = (size_t)place;
    }
    gpu_choice_keep(choice, places, count);
    return 0;
}

/* ---------------------------------------------------------------- Intel */

/* "COMPOSITE": cards are devices; "FLAT", "COMBINED": their tiles are. Without a word of the user's
 * it is tiles on the Data Center GPU Max alone (compute-runtime, gfx_core_helper_xe_hpc_core.cpp),
 * where a card of one tile makes no difference. */
static bool intel_has_tiles(const struct gpu_choice *choice)
{
    const char *hierarchy = choice->getenv_fn("ZE_FLAT_DEVICE_HIERARCHY", choice->context);

    if (hierarchy != NULL && strcmp(hierarchy, "COMPOSITE") == 0)
        return false;
    if (hierarchy != NULL && (strcmp(hierarchy, "FLAT") == 0 || strcmp(hierarchy, "COMBINED") == 0))
        return true;
    for (size_t i = 0; i < choice->count; i++)
        if (strncmp(gpu_choice_at(choice, i)->model, "8086:0bd", strlen("8086:0bd")) == 0)
            return true;
    return false;
}

/* The place of the GPU with the device of that number; choice->count for none; -1 when the driver
 * does not tell its tiles. */
static long intel_find(const struct gpu_choice *choice, long number, bool has_tiles)
{
    long first = 0;

    for (size_t i = 0; i < choice->count; i++) {
        long devices = has_tiles ? gpu_choice_at(choice, i)->tile_count : 1;

        if (devices == 0)
            return -1;
        first += devices;
        if (number < first)
            return (long)i;
    }
    return (long)choice->count;
}

/* An entry that names no device is passed over, as is CARD.TILE where tiles are devices; what is
 * left keeps the order of PCI addresses (compute-runtime's parseAffinityMask()). */
static int intel_filter(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("ZE_AFFINITY_MASK", choice->context);
    bool has_tiles = intel_has_tiles(choice), is_kept[INVENTORY_GPUS] = {false};
    size_t places[INVENTORY_GPUS], count = 0;
    char token[TOKEN];

    if (list == NULL || *list == '\0' || strcmp(list, "default") == 0)
        return 0;
    gpu_choice_show(choice, "ZE_AFFINITY_MASK", list);
    for (const char *rest = list; rest != NULL;) {
        long number, place;
        char *end;

        rest = next_token(rest, token);
        number = strtol(token, &end, 10); /* saturates */
        if (!isdigit((unsigned char)*token) || (*end != '\0' && *end != '.'))
            return gpu_choice_fail(choice, "not a list of devices");
        place =
            has_tiles && *end == '.' ? (long)choice->count : intel_find(choice, number, has_tiles);
        if (place < 0)
            return gpu_choice_fail(choice, "the driver does not tell how many tiles a GPU has");
        if (place == (long)choice->count)
            choice->is_cut = true;
        else
            is_kept[place] = true;
    }
    for (size_t i = 0; i < choice->count; i++)
        if (is_kept[i])
            places[count++] = i;
    gpu_choice_keep(choice, places, count);
    return 0;
}

/* ---------------------------------------------------------------- all */

static void say_choice(const struct gpu_choice *choice, enum gpu_vendor vendor, size_t openable,
                       struct visible_gpus *visible)
{
    size_t length = strlen(visible->fact);

    snprintf(visible->fact + length, sizeof visible->fact - length,
             "%s%s%s%zu %s GPU%s that can be opened", length > 0 ? "; " : "", choice->fact,
             *choice->fact ? " of " : "", openable, gpu_vendor_name(vendor),
             openable == 1 ? "" : "s");
}

void visible_gpus_read(const struct inventory *inventory, envplan_getenv_fn *getenv_fn,
                       void *context, visible_gpus_open_fn *open_fn, void *open_context,
                       struct visible_gpus *visible)
{
    static const struct {
        enum gpu_vendor vendor;
        int (*filter)(struct gpu_choice *choice);
    } vendors[] = {{GPU_NVIDIA, nvidia_filter},
                   {GPU_AMD, amd_filters},
                   {GPU_GAUDI, gaudi_filter},
                   {GPU_INTEL, intel_filter}};
    struct gpu_choice choice;

    memset(visible, 0, sizeof *visible);
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        bool is_here = false, is_known;
        size_t openable;

        for (size_t j = 0; j < inventory->gpu_count; j++)
            is_here = is_here || inventory->gpus[j].vendor == vendors[i].vendor;
        if (!is_here)
            continue;
        choice =
            (struct gpu_choice){.inventory = inventory, .getenv_fn = getenv_fn, .context = context};
        if (gpu_choice_start(&choice, vendors[i].vendor, open_fn, open_context) < 0)
            goto unknown;
        openable = choice.count;
        visible->openable += openable;
        is_known = vendors[i].filter(&choice) == 0;
        visible->is_cut = visible->is_cut || choice.is_cut;
        if (!is_known)
            goto unknown;
        say_choice(&choice, vendors[i].vendor, openable, visible);
        memcpy(visible->gpus + visible->count, choice.gpus, choice.count * sizeof *choice.gpus);
        visible->count += choice.count;
    }
    if (*visible->fact == '\0')
        snprintf(visible->fact, sizeof visible->fact,
                 "no GPU of NVIDIA, AMD, Intel or Gaudi is here");
    visible->is_known = true;
    return;
unknown:
    visible->count = 0;
    snprintf(visible->fact, sizeof visible->fact, "%s", choice.fact);
}
