/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/visible_gpus.h"
#include "lib/base/text.h"
#include "lib/node/gpu/mig.h"
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

static const struct visible_gpus *read_visible(const char *allowed)
{
    static struct visible_gpus visible;

    memset(&visible, 0xff, sizeof visible);
    visible_gpus_read(node, lookup, NULL, opens, (void *)allowed, &visible);
    return &visible;
}

/* Returns the indexes of the GPUs that are seen: "0 3", "" for none, "?" if not known, with "!"
 * after them if a list names other GPUs too. */
static const char *indexes(const char *allowed)
{
    const struct visible_gpus *visible = read_visible(allowed);
    static char text[256];

    snprintf(text, sizeof text, "%s", visible->is_known ? "" : "?");
    for (size_t i = 0; i < visible->count; i++)
        text_join(text, sizeof text, "", "%s%zu", i ? " " : "", visible->gpus[i]);
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

#define sees_with_two_variables(allowed, variable, other, ...)                                     \
    (set(variable, other), is_str(indexes(allowed), __VA_ARGS__))
#define sees(allowed, variable, ...) sees_with_two_variables(allowed, variable, NULL, __VA_ARGS__)

#define ALL "01234567"
#define UUID(digit) "GPU-0c1d2e3f-0000-4000-8000-00000000000" digit

static void nvidia_indices(void)
{
    sees(ALL, NULL, "0 1 2 3 4 5 6 7", "without a variable all GPUs are seen");
    sees("36", NULL, "3 6", "... those that can be opened");
    is_int(read_visible("36")->openable, 2, "... and are counted");
    sees("", NULL, "", "no GPU can be opened");
    sees("?", NULL, "?", "whether a GPU can be opened is not known");
    has_str(read_visible("?")->fact, "whether /dev/nvidia0 can be opened",
            "... and the fact says so");
    sees(ALL, "CUDA_VISIBLE_DEVICES=2,0", "2 0", "GPUs are in the order of the list");
    node->gpus[1].is_excluded = true;
    sees(ALL, "CUDA_VISIBLE_DEVICES=1", "2", "a GPU that the driver excludes has no index");
    node->gpus[1].is_excluded = false;
    sees("4567", "CUDA_VISIBLE_DEVICES=0,1", "4 5", "index 0 is the first that can be opened");
    is_str(read_visible("4567")->fact,
           "CUDA_VISIBLE_DEVICES=0,1 of 4 NVIDIA GPUs that can be opened",
           "... and the fact says so");
    sees("4567", "CUDA_VISIBLE_DEVICES=4,5", "!",
         "an index past the last of these GPUs names none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,2,-1,1", "0 2!", "-1 ends the list");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,9,1", "0!", "an index past the last ends the list");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,99999999999999999999999,1", "0!",
         "... and so does a number out of any range");
    sees(ALL, "CUDA_VISIBLE_DEVICES=", "", "an empty value names none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=-1", "!", "-1 names none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=NoDevFiles", "!", "a word names none");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0,1,0", "!", "a duplicate makes the list empty");
    sees(ALL, "CUDA_VISIBLE_DEVICES= 1 , 3gpu,", "1 3",
         "blanks, and letters after a number, are ignored");
    sees(ALL, "CUDA_VISIBLE_DEVICES=1,\x1b[2J", "1!", "control characters in a list");
    ok(!strchr(read_visible(ALL)->fact, '\x1b'), "... are not in the fact");
}

static void nvidia_names(void)
{
    static char text[1 << 17];

    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5") "," UUID("1"), "5 1", "a list may have UUIDs");
    sees("5", "CUDA_VISIBLE_DEVICES=" UUID("5"), "5", "... also in a device cgroup");
    sees("5", "CUDA_VISIBLE_DEVICES=" UUID("4"), "!",
         "... but not that of a GPU that cannot be opened");
    sees(ALL, "CUDA_VISIBLE_DEVICES=GPU-0c1d", "!", "a prefix of several UUIDs names none");
    sees("5", "CUDA_VISIBLE_DEVICES=GPU-0c1d", "5",
         "... but is enough if only one GPU can be opened");
    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5") ",3", "5!", "UUIDs and indices are not mixed");
    sees(ALL, "CUDA_VISIBLE_DEVICES=3," UUID("5"), "3!", "... in either order");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-" UUID("2") "/7/0", "2",
         "a MIG instance is found by the UUID of its GPU");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-" UUID("2") "/7/0,MIG-" UUID("2") "/8/0", "2",
         "... twice on one GPU");
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "?",
         "the UUID of a MIG instance itself does not show its GPU");
    sees("6", "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "6",
         "... unless there is only one GPU");
    node->gpus[3].is_partitioned = true;
    sees(ALL, "CUDA_VISIBLE_DEVICES=MIG-6f2f6c0e-7c7f-5b8e-9f4e-2d8c7f1d7a10", "3",
         "... or only one with MIG instances");
    sees(ALL, "CUDA_VISIBLE_DEVICES=0", "?", "indices are not known if a GPU has MIG instances");
    sees(ALL, NULL, "?", "... also without a list");
    sees("3", "CUDA_VISIBLE_DEVICES=0", "3", "... but are known if it is the only GPU");
    node->gpus[3].is_partitioned = false;
    snprintf(text, sizeof text, "CUDA_VISIBLE_DEVICES=0");
    memset(text + 22, '7', sizeof text - 23);
    sees(ALL, text, "!", "a number of 131,000 digits names none");
    ok(strlen(read_visible(ALL)->fact) < 120, "... is cut in the fact");
    for (size_t i = 21; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "1,", 2);
    sees(ALL, text, "!", "65,000 duplicates make the list empty");
    node->gpus[7].serial[0] = '\0';
    sees(ALL, "CUDA_VISIBLE_DEVICES=" UUID("5"), "?",
         "a UUID is not known if the driver does not report all UUIDs yet");
    sees(ALL, "CUDA_VISIBLE_DEVICES=5", "5", "... but indices are");
    strcpy(node->gpus[7].model, "NVIDIA L4");
    sees(ALL, "CUDA_VISIBLE_DEVICES=5", "?",
         "indices are not known with different models, as CUDA numbers them by speed");
    sees(ALL, "CUDA_VISIBLE_DEVICES=", "", "... but an empty value names none all the same");
    sees_with_two_variables(ALL, "CUDA_VISIBLE_DEVICES=5", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "5",
                            "... and with the order by PCI address indices are known");
    node->gpus[0].driver[0] = node->gpus[0].device_file[0] = '\0';
    sees(ALL, NULL, "1 2 3 4 5 6 7", "a GPU without a driver is not seen");
    strcpy(node->gpus[0].driver, "nvidia");
    sees(ALL, NULL, "?", "with a driver but no known file it is not known whether it is seen");
}

static void amd(void)
{
    /* renderD128 to renderD135 */
    sees("89012345", "ROCR_VISIBLE_DEVICES=2,0", "2 0", "a list of ROCR");
    sees("0123", "ROCR_VISIBLE_DEVICES=0,1", "2 3", "index 0 is the first that can be opened");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9F1C000000001003,0x2", "3 2",
         "unique IDs in upper or lower case, numbers in C notation");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c", "!", "a prefix of several IDs names none");
    sees("89012345", "ROCR_VISIBLE_DEVICES=", "", "an empty value of ROCR names none");
    sees("89012345", "ROCR_VISIBLE_DEVICES=1,1,2", "1", "a duplicate ends the list of ROCR");
    sees("89012345", "ROCR_VISIBLE_DEVICES=1,2x", "1!", "so does an entry that is not a number");
    sees("89012345", "HIP_VISIBLE_DEVICES=3,3,1", "3 1", "a list of HIP: duplicates are skipped");
    sees("89012345", "HIP_VISIBLE_DEVICES=03,1", "!", "... numbers as they are written");
    sees("89012345", "HIP_VISIBLE_DEVICES=", "0 1 2 3 4 5 6 7", "... an empty value is not a list");
    sees("89012345", "CUDA_VISIBLE_DEVICES=6", "6",
         "... and CUDA's variable counts if HIP's is not set");
    sees("89012345", "GPU_DEVICE_ORDINAL=6", "0 1 2 3 4 5 6 7",
         "the variable of OpenCL does not count for HIP");
    sees_with_two_variables("89012345", "ROCR_VISIBLE_DEVICES=4,5", "HIP_VISIBLE_DEVICES=1", "5",
                            "HIP numbers the GPUs that ROCR leaves");
    has_str(read_visible("89012345")->fact,
            "ROCR_VISIBLE_DEVICES=4,5, HIP_VISIBLE_DEVICES=1 of 8 AMD",
            "... and the fact has both");
    sees_with_two_variables("89012345", "ROCR_VISIBLE_DEVICES=4,5", "CUDA_VISIBLE_DEVICES=4,5", "!",
                            "two lists of Slurm with node-wide numbers leave no GPU");
    node->gpus[2].ordinal = 99;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2,7", "3 2",
         "KFD's numbers count, not the order of PCI addresses");
    node->gpus[2].is_partitioned = true;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2", "?",
         "indices are not known if a GPU has partitions");
    sees("89012345", NULL, "0 1 3 4 5 6 7 2", "... without a list all GPUs are seen");
    sees("0", "ROCR_VISIBLE_DEVICES=0,1", "?",
         "... indices are not known with only that GPU either");
    sees("0", "ROCR_VISIBLE_DEVICES=1,2", "?", "... nor if they are above the number of GPUs");
    sees("1", NULL, "?",
         "a partitioned GPU whose first file cannot be opened may have others that can");
    node->gpus[2].is_partitioned = false;
    node->gpus[2].ordinal = -1;
    sees("89012345", "ROCR_VISIBLE_DEVICES=2", "?",
         "indices are not known if KFD does not report a number");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c000000001002", "2", "... but unique IDs are");
    strcpy(node->gpus[1].serial, "PCB052-0042");
    sees("89012345", "ROCR_VISIBLE_DEVICES=GPU-9f1c000000001002", "?",
         "a serial number is not a unique ID");
}

static void gaudi(void)
{
    sees(ALL, NULL, "0 1 2 3 4 5 6 7", "without a variable all Gaudi cards are seen");
    sees(ALL, "HABANA_VISIBLE_DEVICES=all", "0 1 2 3 4 5 6 7", "all names all cards");
    sees(ALL, "HABANA_VISIBLE_DEVICES=5,1", "5 1", "cards are listed by device number");
    sees("56", "HABANA_VISIBLE_DEVICES=5", "5", "... which a device cgroup does not change");
    sees("56", "HABANA_VISIBLE_DEVICES=0", "?!",
         "... the cards are not known if one cannot be opened");
    sees(ALL, "HABANA_VISIBLE_DEVICES=0,x", "?", "the cards are not known if the list has a word");
    sees(ALL, "HABANA_VISIBLE_MODULES=0", "?",
         "module numbers are not known if the driver does not report them");
    for (size_t i = 0; i < node->gpu_count; i++)
        node->gpus[i].ordinal = (int)(i ^ 3);
    sees(ALL, "HABANA_VISIBLE_MODULES=0,1", "3 2", "cards are listed by module number");
    sees_with_two_variables(ALL, "HABANA_VISIBLE_MODULES=0,1", "HLS_MODULE_ID=1", "2",
                            "HLS_MODULE_ID selects one of them");
    sees(ALL, "HABANA_VISIBLE_MODULES=0,8", "?!",
         "the cards are not known if a module does not exist");
}

/* Each vendor's list is for its own GPUs. */
static void mixed(void)
{
    strcpy(node->gpus[1].model, node->gpus[0].model);
    node->gpus[1].vendor = node->gpus[0].vendor = GPU_NVIDIA;
    strcpy(node->gpus[0].device_file, "/dev/nvidia0");
    strcpy(node->gpus[1].device_file, "/dev/nvidia1");
    sees_with_two_variables(ALL, "CUDA_VISIBLE_DEVICES=1", "HABANA_VISIBLE_DEVICES=4", "1 4",
                            "two vendors in one node");
    is_str(
        read_visible(ALL)->fact,
        "CUDA_VISIBLE_DEVICES=1 of 2 NVIDIA GPUs that can be opened; HABANA_VISIBLE_DEVICES=4 of "
        "6 Gaudi GPUs that can be opened",
        "... have one fact each");
}

static void empty(void)
{
    node->gpu_count = 0;
    sees(ALL, "CUDA_VISIBLE_DEVICES=0", "", "a node without GPUs has none");
    is_str(read_visible(ALL)->fact, "no supported GPU found", "... and the fact says so");
}

static void drivers(void)
{
    char *root = tree_unpack("mi300x-roce");

    tree_put(root, "sys/class/kfd/kfd/topology/nodes/10/properties",
             "simd_count 1216\ndomain 0\nlocation_id 15616\n");
    node = inventory_read(root, NULL);
    is_int(node->gpus[0].ordinal, 2, "the ordinal of the first GPU is KFD's number");
    is_int(node->gpus[0].is_partitioned, 0, "... which is not partitioned");
    is_int(node->gpus[1].ordinal, 3, "the ordinal of the second GPU is its first number");
    is_int(node->gpus[1].is_partitioned, 1, "... which is partitioned, as it has two numbers");
    inventory_free(node);
    tree_remove(root);
    root = tree_unpack("h100-ib");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/access", "DeviceFileMinor: 3");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/ci0/access", "DeviceFileMinor: 4");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu4/mig/gi7/ci1/access", "DeviceFileMinor: 5");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu5/mig/config", "DeviceFileMinor: 1");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu6/mig/gi1/ci0/access", "DeviceFileMinor: 6");
    tree_put(root, "proc/driver/nvidia/capabilities/mig/config", "DeviceFileMinor: 1");
    is_int((long long)mig_instances_count(root), 3, "compute instances of MIG are counted");
    tree_put(root, "proc/driver/nvidia/gpus/0000:43:00.0/information",
             "GPU UUID: \t GPU-????????\n"
             "Video BIOS: \t ??.??.??.??.??\n"
             "GPU Excluded:\t Yes\n");
    node = inventory_read(root, NULL);
    is_int(node->gpus[0].is_excluded, 0, "a GPU that the driver uses is not excluded");
    is_int(node->gpus[1].is_excluded, 1, "... and one that it is configured to exclude is");
    is_str(node->gpus[0].firmware, "96.00.74.00.01", "the firmware of a GPU in use");
    is_str(node->gpus[1].firmware, "", "... that of another GPU is not known");
    is_str(node->gpus[1].serial, "", "... nor is its UUID");
    is_int(node->gpus[4].is_partitioned, 1, "a GPU with a MIG instance is partitioned");
    is_int(node->gpus[5].is_partitioned, 0, "... one without is not");
    is_int(node->gpus[4].ordinal, -1, "NVIDIA's GPUs have no ordinal");
    inventory_free(node);
    tree_remove(root);
    root = tree_unpack("gaudi3");
    tree_put(root, "sys/bus/pci/devices/0000:4d:00.0/module_id", "6");
    node = inventory_read(root, NULL);
    is_int(node->gpus[2].ordinal, 6, "the ordinal of a Gaudi card is its module number");
    is_int(node->gpus[1].ordinal, -1, "... or -1 if it is not reported");
    inventory_free(node);
    tree_remove(root);
}

/* Six cards with two tiles each. */
static void intel(void)
{
    sees(ALL "89", NULL, "0 1 2 3 4 5", "without a mask all cards are seen");
    sees(ALL "89", "ZE_AFFINITY_MASK=", "0 1 2 3 4 5", "... and with an empty one");
    sees(ALL "89", "ZE_AFFINITY_MASK=3", "1", "device 3 is the second tile of the second card");
    sees(ALL "89", "ZE_AFFINITY_MASK=11,0,1", "0 5", "cards are in the order of the bus");
    sees(ALL "89", "ZE_AFFINITY_MASK=12,2,99999999999999999999", "1!",
         "numbers past the last are skipped");
    sees(ALL "89", "ZE_AFFINITY_MASK=0.1,4", "2!", "a tile of a tile is skipped");
    sees(ALL "89", "ZE_AFFINITY_MASK=0x3", "?",
         "a mask that is not a list of devices is not known");
    sees(ALL "89", "ZE_AFFINITY_MASK=,1", "?", "... nor is a list that begins with a comma");
    sees_with_two_variables(ALL "89", "ZE_AFFINITY_MASK=3,0.1",
                            "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "0 3",
                            "COMPOSITE numbers cards; a tile of a card may be named");
    is_str(read_visible(ALL "89")->fact,
           "ZE_AFFINITY_MASK=3,0.1 of 6 Intel GPUs that can be opened", "... and the fact says so");
    sees_with_two_variables("912", "ZE_AFFINITY_MASK=1", "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "3",
                            "number 1 is the second card that can be opened");
    sees_with_two_variables(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=COMBINED",
                            "1", "COMBINED numbers as FLAT does");
    node->gpus[0].tile_count = 0;
    sees(ALL "89", "ZE_AFFINITY_MASK=2", "?",
         "the mask is not known if the number of tiles is not");
    has_str(read_visible(ALL "89")->fact, "how many tiles", "... and the fact says so");
    for (size_t i = 0; i < node->gpu_count; i++)
        strcpy(node->gpus[i].model, "8086:56c0");
    sees(ALL "89", "ZE_AFFINITY_MASK=2", "2", "the devices of Flex GPUs are cards");
    node->gpus[0].tile_count = 2;
    sees_with_two_variables(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=COMBINED",
                            "1", "... unless the user wants them combined");
    sees_with_two_variables(ALL "89", "ZE_AFFINITY_MASK=2", "ZE_FLAT_DEVICE_HIERARCHY=FLAT", "1",
                            "... or flat");
}

static void intel_files(void)
{
    char *root = tree_unpack("aurora");

    tree_put(root, "sys/bus/pci/devices/0000:00:02.0/class", "0x038000");
    tree_put(root, "sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:01:00.0/class", "0x030000");
    tree_put(root, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/class", "0x038000");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/vendor", "0x8086");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gt0/id", "0");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gt1/id", "1");
    tree_put(root, "sys/bus/pci/devices/0000:04:00.0/drm/card7/gt/gtx/id", "1");
    node = inventory_read(root, NULL);
    is_int(node->gpu_count, 7, "an integrated GPU and a display adapter are left out");
    is_str(node->gpus[0].location.pci, "0000:04:00.0", "a card with the driver i915 is found");
    is_int(node->gpus[0].tile_count, 2, "... with its tiles");
    is_int(node->gpus[1].tile_count, 2, "the tiles that the driver xe shows");
    is_str(node->gpus[1].device_file, "/dev/dri/renderD128", "... with the device file");
    is_str(gpu_vendor_name(node->gpus[1].vendor), "Intel", "... and the vendor Intel");
    inventory_free(node);
    tree_remove(root);
}

static void files(void)
{
    char *root = tree_unpack("");
    char path[512];

    is_int(visible_gpus_open("/dev/null", NULL), 1, "/dev/null can be opened");
    is_int(visible_gpus_open("/dev/null/x", NULL), 0, "a path below a file cannot be opened");
    tree_put(root, "gpu0", "");
    snprintf(path, sizeof path, "%s/gpu0", root);
    is_int(visible_gpus_open(path, NULL), 0, "a regular file is not a device");
    snprintf(path, sizeof path, "%s/gpu1", root);
    is_int(visible_gpus_open(path, NULL), 0, "a missing file cannot be opened");
    is_int(mkfifo(path, 0600), 0, "a FIFO is made");
    is_int(visible_gpus_open(path, NULL), 0, "... which is not a device, and is not waited for");
    snprintf(path, sizeof path, "%s/gpu2", root);
    is_int(symlink("gpu2", path), 0, "a link to itself is made");
    is_int(visible_gpus_open(path, NULL), -1, "... which is not known");
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
