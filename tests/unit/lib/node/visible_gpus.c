/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/mig.h"
#include "lib/node/gpu/visible_gpus.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The GPUs that a task sees on recorded nodes: the inputs are an environment and the files that can
 * be opened, the result is a list of GPU indexes. */

static struct inventory *node;
static const char *environment[8];

static const char *lookup(const char *name, void *context)
{
    size_t length = strlen(name);

    (void)context;
    for (size_t i = 0; i < 8 && environment[i]; i++)
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            return environment[i] + length + 1;
    return NULL;
}

/* context: the last characters of the files that can be opened; "?": not known */
static int opens(const char *device_file, void *context)
{
    const char *allowed = context;

    if (*allowed == '?')
        return -1;
    return strchr(allowed, device_file[strlen(device_file) - 1]) != NULL;
}

static const struct visible_gpus *see(const char *allowed)
{
    static struct visible_gpus visible;

    memset(&visible, 0xff, sizeof visible);
    visible_gpus_read(node, lookup, NULL, opens, (void *)allowed, &visible);
    return &visible;
}

/* Returns the indexes of the GPUs that are seen: "0 3", "" for none, "?" if not known, with "!"
 * after them if a list names other GPUs too. */
static const char *places(const char *allowed)
{
    const struct visible_gpus *visible = see(allowed);
    static char text[256];

    snprintf(text, sizeof text, "%s", visible->is_known ? "" : "?");
    for (size_t i = 0; i < visible->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%zu", i ? " " : "",
                 visible->gpus[i]);
    if (visible->is_cut)
        strcat(text, "!");
    return text;
}

static void set(const char *one, const char *other)
{
    memset(environment, 0, sizeof environment);
    environment[0] = one;
    environment[1] = other;
}

#define sees_two(allowed, variable, other, ...)                                                    \
    (set(variable, other), is_str(places(allowed), __VA_ARGS__))
#define sees(allowed, variable, ...) sees_two(allowed, variable, NULL, __VA_ARGS__)

#define ALL "01234567"
#define UUID(digit) "GPU-0c1d2e3f-0000-4000-8000-00000000000" digit

static void nvidia_indices(void)
{
    sees(ALL, NULL, "0 1 2 3 4 5 6 7", "without a variable all of them");
    sees("36", NULL, "3 6", "... that can be opened");
    is_int(see("36")->openable, 2, "... are counted");
    sees("", NULL, "", "none can be opened");
    sees("?", NULL, "?", "it cannot be asked");
    has_str(see("?")->fact, "whether /dev/nvidia0 can be opened", "... and that is said");
    sees(ALL, "CUDA_VISIBLE_DEVICES=2,0", "2 0", "in the order of the list");
    node->gpus[1].is_excluded = true;
    sees(ALL, "CUDA_VISIBLE_DEVICES=1", "2", "a GPU that the driver leaves alone has no index");
    node->gpus[1].is_excluded = false;
    sees("4567", "CUDA_VISIBLE_DEVICES=0,1", "4 5", "index 0 is the first that can be opened");
    is_str(see("4567")->fact, "CUDA_VISIBLE_DEVICES=0,1 of 4 NVIDIA GPUs that can be opened",
           "... and the fact says so");
    sees("4567", "CUDA_VISIBLE_DEVICES=4,5", "!", "no index past them");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,2,-1,1", "0 2!", "-1 ends the list");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,9,1", "0!", "so does an index past the last");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,99999999999999999999999,1", "0!", "... and one past any");
    sees(ALL, "CUDA_VISIBLE_DEVICES=", "", "an empty value is none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=-1", "!", "-1 is none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=NoDevFiles", "!", "a word is none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,1,0", "!", "a double makes the list void");
    sees(ALL, "CUDA_VISIBLE_DEVICES= 1 , 3gpu,", "1 3", "blanks, and letters behind a number");
    sees(ALL, "CUDA_VISIBLE_DEVICES=1,\x1b[2J", "1!", "control characters");
    ok(!strchr(see(ALL)->fact, '\x1b'), "... are not in the fact");
}

static void nvidia_names(void)
{
    static char text[1 << 17];

    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5") "," UUID("1"), "5 1", "UUIDs");
    sees("5", "CUDA_VISIBLE_DEVICES=" UUID("5"), "5", "... under a device cgroup too");
    sees("5", "CUDA_VISIBLE_DEVICES=" UUID("4"), "!", "... not one that cannot be opened");
    sees(ALL, "CUDA_VISIBLE_DEVICES=GPU-0c1d", "!", "a beginning that several share is none");
    sees("5", "CUDA_VISIBLE_DEVICES=GPU-0c1d", "5", "... but is enough where it is the only one");
    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5") ",3", "5!", "kinds are not mixed");
    sees(ALL, "CUDA_VISIBLE_DEVICES=3," UUID("5"), "3!", "... in either order");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-" UUID("2") "/7/0", "2", "MIG by its GPU's UUID");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-" UUID("2") "/7/0,MIG-" UUID("2") "/8/0", "2",
         "... twice on one GPU");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "?",
         "a MIG device's own UUID does not tell the GPU");
    sees("6", "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "6",
         "... unless there is only one");
    node->gpus[3].is_partitioned = true;
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "3",
         "... or only one with MIG instances");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0", "?", "indices where one has MIG instances");
    sees(ALL, NULL, "?", "... and no list at all");
    sees("3", "CUDA_VISIBLE_DEVICES=0", "3", "... are sure where it is the only one");
    node->gpus[3].is_partitioned = false;
    snprintf(text, sizeof text, "CUDA_VISIBLE_DEVICES=0");
    memset(text + 22, '7', sizeof text - 23);
    sees(ALL, text, "!", "a number of 131,000 digits");
    ok(strlen(see(ALL)->fact) < 120, "... is cut in the fact");
    for (size_t i = 21; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "1,", 2);
    sees(ALL, text, "!", "65,000 doubles");
    node->gpus[7].serial[0] = '\0';
    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5"), "?", "a UUID that the driver does not tell yet");
    sees(ALL, "CUDA_VISIBLE_DEVICES=5", "5", "... which indices do not need");
    strcpy(node->gpus[7].model, "NVIDIA L4");
    sees(ALL, "CUDA_VISIBLE_DEVICES=5", "?", "different models are numbered by speed");
    sees(ALL, "CUDA_VISIBLE_DEVICES=", "", "... none is none all the same");
    sees_two(ALL, "CUDA_VISIBLE_DEVICES=5", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "5",
             "... unless by PCI address");
    node->gpus[0].driver[0] = node->gpus[0].device_file[0] = '\0';
    sees(ALL, NULL, "1 2 3 4 5 6 7", "a GPU without a driver is not there");
    strcpy(node->gpus[0].driver, "nvidia");
    sees(ALL, NULL, "?", "one with a driver and no file known might be");
}

static void amd(void)
{
    /* renderD128 to renderD135 */
    sees("89012345", "ROCR_VISIBLE_DEVICES=2,0", "2 0", "ROCR's list");
    sees("0123", "ROCR_VISIBLE_DEVICES=0,1", "2 3", "index 0 is the first that can be opened");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9F1C000000001003,0x2", "3 2",
         "unique ids in any case, numbers in C's notation");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c", "!", "a beginning that several share");
    sees("89012345", "ROCR_VISIBLE_DEVICES=", "", "empty is none");
    sees("89012345", "ROCR_VISIBLE_DEVICES=1,1,2", "1", "a double ends it");
    sees("89012345", "ROCR_VISIBLE_DEVICES=1,2x", "1!", "so does what is no number");
    sees("89012345", "HIP_VISIBLE_DEVICES=3,3,1", "3 1", "HIP's list: doubles are passed over");
    sees("89012345", "HIP_VISIBLE_DEVICES=03,1", "!", "... numbers as they are written");
    sees("89012345", "HIP_VISIBLE_DEVICES=", "0 1 2 3 4 5 6 7", "... empty is no list");
    sees("89012345", "CUDA_VISIBLE_DEVICES=6", "6", "... CUDA's name for want of it");
    sees("89012345", "GPU_DEVICE_ORDINAL=6", "0 1 2 3 4 5 6 7", "OpenCL's is not HIP's");
    sees_two("89012345", "ROCR_VISIBLE_DEVICES=4,5", "HIP_VISIBLE_DEVICES=1", "5",
             "HIP numbers what ROCR leaves");
    has_str(see("89012345")->fact, "ROCR_VISIBLE_DEVICES=4,5, HIP_VISIBLE_DEVICES=1 of 8 AMD",
            "... and the fact has both");
    sees_two("89012345", "ROCR_VISIBLE_DEVICES=4,5", "CUDA_VISIBLE_DEVICES=4,5", "!",
             "Slurm's two lists of node-wide numbers leave none");
    node->gpus[2].ordinal = 99;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2,7", "3 2", "KFD's numbers count, not PCI addresses");
    node->gpus[2].is_partitioned = true;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2", "?", "indices of partitions");
    sees("89012345", NULL, "0 1 3 4 5 6 7 2", "... without a list, all");
    sees("0", "ROCR_VISIBLE_DEVICES=0,1", "?", "... also of one GPU alone");
    sees("0", "ROCR_VISIBLE_DEVICES=1,2", "?", "... that are past the number of GPUs");
    sees("1", NULL, "?", "one whose first file cannot be opened may have others that can");
    node->gpus[2].is_partitioned = false;
    node->gpus[2].ordinal = -1;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2", "?", "KFD does not tell its numbers");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c000000001002", "2", "... ids do without");
    strcpy(node->gpus[1].serial, "PCB052-0042");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c000000001002", "?",
         "a serial number is no unique id");
}

static void gaudi(void)
{
    sees(ALL, NULL, "0 1 2 3 4 5 6 7", "all Gaudi cards");
    sees(ALL, "HABANA_VISIBLE_DEVICES=all", "0 1 2 3 4 5 6 7", "all by name");
    sees(ALL, "HABANA_VISIBLE_DEVICES=5,1", "5 1", "by device number");
    sees("56", "HABANA_VISIBLE_DEVICES=5", "5", "... which a cgroup does not change");
    sees("56", "HABANA_VISIBLE_DEVICES=0", "?!", "... one that cannot be opened");
    sees(ALL, "HABANA_VISIBLE_DEVICES=0,x", "?", "no number");
    sees(ALL, "HABANA_VISIBLE_MODULES=0", "?", "module numbers that are not told");
    for (size_t i = 0; i < node->gpu_count; i++)
        node->gpus[i].ordinal = (int)(i ^ 3);
    sees(ALL, "HABANA_VISIBLE_MODULES=0,1", "3 2", "by module number");
    sees_two(ALL, "HABANA_VISIBLE_MODULES=0,1", "HLS_MODULE_ID=1", "2",
             "one of them by HLS_MODULE_ID");
    sees(ALL, "HABANA_VISIBLE_MODULES=0,8", "?!", "no such module");
}

/* Each vendor's list is for its own GPUs. */
static void mixed(void)
{
    strcpy(node->gpus[1].model, node->gpus[0].model);
    node->gpus[1].vendor = node->gpus[0].vendor = GPU_NVIDIA;
    strcpy(node->gpus[0].device_file, "/dev/nvidia0");
    strcpy(node->gpus[1].device_file, "/dev/nvidia1");
    sees_two(ALL, "CUDA_VISIBLE_DEVICES=1", "HABANA_VISIBLE_DEVICES=4", "1 4",
             "two vendors in one node");
    is_str(
        see(ALL)->fact,
        "CUDA_VISIBLE_DEVICES=1 of 2 NVIDIA GPUs that can be opened; HABANA_VISIBLE_DEVICES=4 of "
        "6 Gaudi GPUs that can be opened",
        "... have a fact each");
}

static void empty(void)
{
    node->gpu_count = 0;
    sees(ALL, "CUDA_VISIBLE_DEVICES=0", "", "a node without GPUs");
    is_str(see(ALL)->fact, "no supported GPU found", "... is called so");
}

static void drivers(void)
{
    char *root = tree_unpack("mi300x-roce");
    struct error err;

    tree_put(root, "sys/class/kfd/kfd/topology/nodes/10/properties",
             "simd_count 1216\ndomain 0\nlocation_id 15616\n");
    node = inventory_read(root, &err);
    is_int(node->gpus[0].ordinal, 2, "KFD's number of the first GPU");
    is_int(node->gpus[0].is_partitioned, 0, "... which is whole");
    is_int(node->gpus[1].ordinal, 3, "the second GPU's first number");
    is_int(node->gpus[1].is_partitioned, 1, "... it has two");
    inventory_free(node);
    tree_remove(root);
    root = tree_unpack("h100-ib");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/access", "DeviceFileMinor: 3");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/ci0/access", "DeviceFileMinor: 4");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/ci1/access", "DeviceFileMinor: 5");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu5/mig/config", "DeviceFileMinor: 1");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu6/mig/gi1/ci0/access", "DeviceFileMinor: 6");
    tree_put(root, "proc/driver/nvidia/capabilities/mig/config", "DeviceFileMinor: 1");
    is_int((long long)mig_instances_count(root), 3, "MIG's compute instances are counted");
    tree_put(root, "proc/driver/nvidia/gpus/0000:43:00.0/information",
             "GPU UUID: \t GPU-????????\n"
             "Video BIOS: \t ??.??.??.??.??\n"
             "GPU Excluded:\t Yes\n");
    node = inventory_read(root, &err);
    is_int(node->gpus[0].is_excluded, 0, "a GPU that the driver runs");
    is_int(node->gpus[1].is_excluded, 1, "... and one that it is told to leave alone");
    is_str(node->gpus[0].firmware, "96.00.74.00.01", "the firmware of a GPU in use");
    is_str(node->gpus[1].firmware, "", "... that of another is not told");
    is_str(node->gpus[1].serial, "", "... nor is its UUID");
    is_int(node->gpus[4].is_partitioned, 1, "a GPU with a MIG instance");
    is_int(node->gpus[5].is_partitioned, 0, "... one without");
    is_int(node->gpus[4].ordinal, -1, "NVIDIA's GPUs have no number of their own");
    inventory_free(node);
    tree_remove(root);
    root = tree_unpack("gaudi3");
    tree_put(root, "sys/bus/pci/devices/0000:4d:00.0/module_id", "6");
    node = inventory_read(root, &err);
    is_int(node->gpus[2].ordinal, 6, "Gaudi's module number");
    is_int(node->gpus[1].ordinal, -1, "... not told");
    inventory_free(node);
    tree_remove(root);
}

/* Six cards with two tiles each. */
static void intel(void)
{
    sees(ALL "89", NULL, "0 1 2 3 4 5", "without a mask all of them");
    sees(ALL "89", "ZE_AFFINITY_MASK=", "0 1 2 3 4 5", "... and with an empty one");
    sees(ALL "89", "ZE_AFFINITY_MASK=3", "1", "device 3 is the second card's second tile");
    sees(ALL "89", "ZE_AFFINITY_MASK=11,0,1", "0 5", "in the order of the bus");
    sees(ALL "89", "ZE_AFFINITY_MASK=12,2,99999999999999999999", "1!",
         "past the last: passed over");
    sees(ALL "89", "ZE_AFFINITY_MASK=0.1,4", "2!", "no tiles of tiles");
    sees(ALL "89", "ZE_AFFINITY_MASK=0x3", "?", "not a list of devices");
    sees(ALL "89", "ZE_AFFINITY_MASK=,1", "?", "... nor is that");
    sees_two(ALL "89", "ZE_AFFINITY_MASK=3,0.1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "0 3",
             "by card, and a tile of one");
    is_str(see(ALL "89")->fact, "ZE_AFFINITY_MASK=3,0.1 of 6 Intel GPUs that can be opened",
           "... and that is said");
    sees_two("912", "ZE_AFFINITY_MASK=1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "3",
             "number 1 is the second that can be opened");
    sees_two(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=COMBINED", "1",
             "COMBINED numbers as FLAT does");
    node->gpus[0].tile_count = 0;
    sees(ALL "89", "ZE_AFFINITY_MASK=2", "?", "how many tiles is not told");
    has_str(see(ALL "89")->fact, "how many tiles", "... and that is said");
    for (size_t i = 0; i < node->gpu_count; i++)
        strcpy(node->gpus[i].model, "8086:56c0");
    sees(ALL "89", "ZE_AFFINITY_MASK=2", "2", "the Flex's devices are cards");
    node->gpus[0].tile_count = 2;
    sees_two(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=COMBINED", "1",
             "... unless the user wants them combined");
    sees_two(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=FLAT", "1", "... or flat");
}

static void intel_files(void)
{
    char *root = tree_unpack("aurora");
    struct error err;

    tree_put(root, "sys/bus/pci/devices/0000:00:02.0/class", "0x038000");
    tree_put(root, "sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:01:00.0/class", "0x030000");
    tree_put(root, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/class", "0x038000");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gt0/id", "0");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gt1/id", "1");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gtx/id", "1");
    node = inventory_read(root, &err);
    is_int(node->gpu_count, 7, "neither a processor's own nor what makes pictures");
    is_str(node->gpus[0].location.pci, "0000:04:00.0", "a card with the driver i915");
    is_int(node->gpus[0].tile_count, 2, "... and its tiles");
    is_int(node->gpus[1].tile_count, 2, "those that xe shows");
    is_str(node->gpus[1].device_file, "/dev/dri/renderD128", "... and the file");
    is_str(gpu_vendor_name(node->gpus[1].vendor), "Intel", "... of Intel's");
    inventory_free(node);
    tree_remove(root);
}

static void files(void)
{
    char *root = tree_unpack("");
    char path[512];

    is_int(visible_gpus_open("/dev/null", NULL), 1, "/dev/null can be opened");
    is_int(visible_gpus_open("/dev/null/x", NULL), 0, "what is below no directory cannot");
    tree_put(root, "gpu0", "");
    snprintf(path, sizeof path, "%s/gpu0", root);
    is_int(visible_gpus_open(path, NULL), 0, "a plain file is no device");
    snprintf(path, sizeof path, "%s/gpu1", root);
    is_int(visible_gpus_open(path, NULL), 0, "nor is what is not there");
    is_int(mkfifo(path, 0600), 0, "a pipe");
    is_int(visible_gpus_open(path, NULL), 0, "... is none, and nobody waits for it");
    snprintf(path, sizeof path, "%s/gpu2", root);
    is_int(symlink("gpu2", path), 0, "a link to itself");
    is_int(visible_gpus_open(path, NULL), -1, "... is not told");
    tree_remove(root);
}

int main(void)
{
    node = tree_inventory("h100-ib");
    nvidia_indices();
    nvidia_names();
    inventory_free(node);
    node = tree_inventory("mi300x-roce");
    amd();
    inventory_free(node);
    node = tree_inventory("gaudi3");
    gaudi();
    mixed();
    inventory_free(node);
    node = tree_inventory("aurora");
    intel();
    empty();
    inventory_free(node);
    intel_files();
    drivers();
    files();
    return tap_done();
}
