/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/visible_gpus.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/node/device.h"
#include "lib/node/gpu/vendor.h"

int visible_gpus_open(const char *device_file, void *root)
{
    int answer = device_access(root, device_file);

    return answer < 0 ? -1 : answer == 0;
}

static void report_choice(const struct gpu_choice *choice, enum gpu_vendor vendor, size_t openable,
                          struct visible_gpus *visible)
{
    text_join(visible->fact, sizeof visible->fact, "; ", "%s%s%zu %s GPU%s that can be opened",
              choice->fact, *choice->fact ? " of " : "", openable, gpu_vendor_name(vendor),
              text_plural(openable));
}

void visible_gpus_read(const struct inventory *inventory, gpu_getenv_fn *getenv_fn, void *context,
                       visible_gpus_open_fn *open_fn, void *open_context,
                       struct visible_gpus *visible)
{
    struct gpu_choice choice;

    memset(visible, 0, sizeof *visible);
    for (int i = GPU_OTHER + 1; i < GPU_VENDORS; i++) {
        enum gpu_vendor vendor = (enum gpu_vendor)i;
        bool is_known;
        size_t openable;

        if (!inventory_has_gpu(inventory, vendor))
            continue;
        choice =
            (struct gpu_choice){.inventory = inventory, .getenv_fn = getenv_fn, .context = context};
        if (gpu_choice_start(&choice, vendor, open_fn, open_context) < 0)
            goto unknown;
        openable = choice.count;
        visible->openable += openable;
        is_known = gpu_vendor_info(vendor)->filter(&choice) == 0;
        visible->is_cut = visible->is_cut || choice.is_cut;
        if (!is_known)
            goto unknown;
        report_choice(&choice, vendor, openable, visible);
        memcpy(visible->gpus + visible->count, choice.gpus, choice.count * sizeof *choice.gpus);
        visible->count += choice.count;
    }
    if (*visible->fact == '\0')
        snprintf(visible->fact, sizeof visible->fact, "no supported GPU found");
    visible->is_known = true;
    return;
unknown:
    visible->count = 0;
    snprintf(visible->fact, sizeof visible->fact, "%s", choice.fact);
}
