/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/stepcheck.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The problems of a task, by its environment, the files that it can open and its limits. */

static struct inventory *node;
static struct fabric fabric;
static struct conf conf;
static struct slurm_lines lines;
static struct gres_devices gres;
static struct stepcheck found;
static const char *environment[8];
static unsigned long long memlock;
static long long shared_memory;

/* Files that cannot be opened: the end of each name, and the errno. */
static struct {
    const char *end;
    int error;
} refused[8];

static const char *lookup(const char *name, void *context)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < 8 && environment[i]; i++)
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            return environment[i] + length + 1;
    return NULL;
}

static int access_error(const char *file, void *context)
{
    for (size_t i = 0; i < 8 && refused[i].end; i++) {
        size_t length = strlen(refused[i].end);

        if (strlen(file) >= length && strcmp(file + strlen(file) - length, refused[i].end) == 0)
            return refused[i].error;
    }
    return 0;
}

static void set(const char *one, const char *two, const char *three)
{
    memset(environment, 0, sizeof environment);
    environment[0] = one;
    environment[1] = two;
    environment[2] = three;
}

#define first_problem_is(one, two, ...) (set(one, two, NULL), is_str(first_problem(), __VA_ARGS__))
#define first_problem_has(one, two, ...)                                                           \
    (set(one, two, NULL), has_str(first_problem(), __VA_ARGS__))

static void refuse_access(const char *end, int error)
{
    size_t i = 0;

    if (!end)
        memset(refused, 0, sizeof refused);
    while (end && refused[i].end)
        i++;
    refused[i].end = end;
    refused[i].error = error;
}

/* Simulates a device cgroup that allows only the GPUs whose files end in these digits. */
static void allow_only_gpus(const char *digits)
{
    static const char *const ends[] = {"gpu0", "gpu1", "gpu2", "gpu3",
                                       "gpu4", "gpu5", "gpu6", "gpu7"};

    refuse_access(NULL, 0);
    for (int i = 0; i < 8; i++)
        if (!strchr(digits, '0' + i))
            refuse_access(ends[i], EPERM);
}

/* Checks the task. Returns the first problem, or "". */
static const char *first_problem(void)
{
    struct stepcheck_facts facts = {.conf = &conf,
                                    .inventory = node,
                                    .fabric = &fabric,
                                    .gres = gres.count ? &gres : NULL,
                                    .memlock_bytes = memlock,
                                    .shared_memory_bytes = shared_memory,
                                    .getenv_fn = lookup,
                                    .access_fn = access_error};

    memset(&found, 0xff, sizeof found);
    stepcheck_make(&facts, &found);
    return found.count ? found.problems[0] : "";
}

static void read_gres(const char *text)
{
    char *root = tree_unpack("");
    struct error err = {""};

    gres_devices_clear(&gres);
    slurm_lines_clear(&lines);
    tree_put(root, "etc/slurm/gres.conf", text);
    ok(slurm_lines_read(root, "/etc/slurm", "gres.conf", &lines, &err) == 0 &&
           gres_devices_list(&lines, "n1", &gres, &err) == 0,
       "gres.conf is read (%s)", err.text);
    tree_remove(root);
}

static void read_node(const char *name)
{
    inventory_free(node);
    node = tree_inventory(name);
    fabric_choose(node, &conf, &fabric);
    set(NULL, NULL, NULL);
    refuse_access(NULL, 0);
    memlock = ULLONG_MAX;
    shared_memory = -1;
}

/* Devices of gres.conf that are not PCI devices. */
static void devices(void)
{
    read_node("lab-node");
    read_gres("NodeName=n[1-2] Name=gpu File=/dev/gpu[0-7]\nNodeName=n3 Name=gpu File=/dev/x\n");
    is_str(first_problem(), "", "a step without allocated GPUs has no problem");
    allow_only_gpus("");
    is_str(first_problem(), "", "... also if it can open none");
    set("SLURM_STEP_GPUS=2,3", "CUDA_VISIBLE_DEVICES=0,1", NULL);
    allow_only_gpus("23");
    is_str(first_problem(), "", "a step with two of eight GPUs in a device cgroup has no problem");
    refuse_access(NULL, 0);
    is_str(first_problem(), "", "... nor without a device cgroup");
    first_problem_is("SLURM_STEP_GPUS=2,3", "CUDA_VISIBLE_DEVICES=2,3", "",
                     "... nor with the node's own numbers");
    allow_only_gpus("23");
    is_str(first_problem(),
           "2 GPUs allocated (2,3), CUDA_VISIBLE_DEVICES=2,3 names devices other than the 2 that "
           "can be "
           "opened",
           "the node's own numbers are a problem in a device cgroup");
    set("SLURM_STEP_GPUS=2,3", "CUDA_VISIBLE_DEVICES=0,1", "HIP_VISIBLE_DEVICES=1");
    is_str(first_problem(), "", "a user's list that leaves one GPU out is no problem");
    environment[2] = "HIP_VISIBLE_DEVICES=99999999999999999999";
    has_str(first_problem(), "HIP_VISIBLE_DEVICES=99999999999999999999 names devices other",
            "a number out of range is a problem");
    environment[2] = "HIP_VISIBLE_DEVICES=a,b";
    is_str(first_problem(), "", "a list of unknown names is no problem");
    set("SLURM_STEP_GPUS=3,4", NULL, NULL);
    allow_only_gpus("3");
    is_str(first_problem(), "2 GPUs allocated (3,4), the step can open 1 of the node's 8",
           "one of two allocated GPUs cannot be opened");
    for (size_t i = 0; i < 7; i++)
        if (strcmp(refused[i].end, "gpu4") == 0)
            refused[i].error = ENOENT;
    is_str(first_problem(),
           "2 GPUs allocated (3,4), the step can open 1 of the node's 8, /dev/gpu4 is not there",
           "... and a missing device file is named");
    refuse_access(NULL, 0);
    refuse_access("gpu0", ENOENT);
    is_str(first_problem(), "", "a missing GPU of other steps is no problem");
    refuse_access("gpu1", -1);
    first_problem_is("SLURM_STEP_GPUS=0,1,2,3,4,5,6,7", NULL, "",
                     "a device whose access is not known is no problem");
    set("SLURM_STEP_GPUS=\x1b[31m0", NULL, NULL);
    allow_only_gpus("");
    is_str(first_problem(), "1 GPU allocated (?[31m0), the step can open 0 of the node's 8",
           "control characters are replaced");
    first_problem_is("SLURM_STEP_GPUS=", NULL, "", "an empty list of GPUs is no problem");
    read_gres("Name=gpu MultipleFiles=/dev/gpu[0-1]\n");
    first_problem_is("SLURM_STEP_GPUS=0", NULL, "", "GPUs with several files are not counted");
    read_gres("Name=gpu Count=4\n");
    is_str(first_problem(), "", "nor are GPUs without a file");
    read_gres("Name=nic File=/dev/gpu0\n");
    is_str(first_problem(), "", "devices of another name are not GPUs");
    gres_devices_clear(&gres);
}

static void nvidia(void)
{
    read_node("h100-ib");
    set("SLURM_STEP_GPUS=4,5", "CUDA_VISIBLE_DEVICES=0,1", NULL);
    for (int i = 0; i < 6; i++)
        refuse_access(
            (const char *[]){"nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidia6", "nvidia7"}[i],
            EPERM);
    is_str(first_problem(), "", "a step with two of eight H100 has no problem");
    environment[1] = "CUDA_VISIBLE_DEVICES=4,5";
    is_str(first_problem(),
           "2 GPUs allocated (4,5), the program sees none: CUDA_VISIBLE_DEVICES=4,5 of 2 NVIDIA "
           "GPUs that can be opened",
           "the node's own numbers are a problem in a device cgroup");
    environment[1] = "CUDA_VISIBLE_DEVICES=1,2";
    has_str(first_problem(), "the program sees only 1: CUDA_VISIBLE_DEVICES=1,2 of 2",
            "a list with one of two GPUs that exist is a problem");
    environment[1] = "CUDA_VISIBLE_DEVICES=1";
    is_str(first_problem(), "", "a list that leaves one GPU out is no problem");
    environment[1] = "CUDA_VISIBLE_DEVICES=";
    has_str(first_problem(), "the program sees none: CUDA_VISIBLE_DEVICES= of 2",
            "an empty list is a problem");
    environment[1] = NULL;
    refuse_access("nvidiactl", ENOENT);
    is_str(first_problem(), "", "a missing common file is no problem, as CUDA makes it");
    refuse_access("nvidia-uvm", EACCES);
    is_str(first_problem(),
           "2 GPUs allocated (4,5), /dev/nvidia-uvm cannot be opened (Permission denied), which "
           "CUDA needs",
           "... but one that cannot be opened is");
    refuse_access(NULL, 0);
    strcpy(node->gpus[0].device_file, "");
    is_str(first_problem(), "", "a GPU with a driver and an unknown file is no problem");
    strcpy(node->gpus[0].driver, "");
    first_problem_is("SLURM_STEP_GPUS=0,1,2,3,4,5,6,7", NULL,
                     "8 GPUs allocated (0,1,2,3,4,5,6,7), the step can open 7 of the node's 7",
                     "a GPU without a driver is a problem");
    node->gpus[1].is_partitioned = true;
    first_problem_is("SLURM_STEP_GPUS=0,1,2,3,4,5,6,7,8,9", "CUDA_VISIBLE_DEVICES=MIG-1,MIG-2", "",
                     "MIG instances are not counted as GPUs");
}

static void amd(void)
{
    read_node("mi300x-roce");
    set("SLURM_STEP_GPUS=4,5", "ROCR_VISIBLE_DEVICES=4,5", "CUDA_VISIBLE_DEVICES=4,5");
    is_str(first_problem(),
           "2 GPUs allocated (4,5), the program sees none: ROCR_VISIBLE_DEVICES=4,5, "
           "CUDA_VISIBLE_DEVICES=4,5 of 8 AMD GPUs that can be opened",
           "two lists of Slurm are a problem without a device cgroup");
    first_problem_is("SLURM_STEP_GPUS=4,5", "ROCR_VISIBLE_DEVICES=4,5", "",
                     "... one of them is not");
    refuse_access("kfd", EACCES);
    is_str(
        first_problem(),
        "2 GPUs allocated (4,5), /dev/kfd cannot be opened (Permission denied), which ROCm needs",
        "a user outside the group render cannot open /dev/kfd");
    for (int i = 0; i < 4; i++)
        refuse_access((const char *[]){"8", "9", "3", "5"}[i], i ? EACCES : EPERM);
    first_problem_is(
        "SLURM_STEP_GPUS=0,1,2,3,4", NULL,
        "5 GPUs allocated (0,1,2,3,4), the step can open 4 of the node's 8, /dev/dri/renderD129 "
        "cannot be opened (Permission denied)",
        "... nor the GPUs of that group");
}

/* A node with eight ports, which have RoCE v1 and v2 GIDs, link-local and IPv4 (indexes 0 to 3).
 * One port has no IPv4 address. */
static void gid_indexes(void)
{
    char name[32];

    first_problem_is("SLURM_STEP_NUM_NODES=2", "UCX_IB_GID_INDEX=9", "",
                     "a GID index on InfiniBand is no problem");
    read_node("mi300x-roce");
    first_problem_has(
        "SLURM_STEP_NUM_NODES=2", "UCX_IB_GID_INDEX=9",
        "UCX_IB_GID_INDEX=9: bnxt_re0:1 has no GID with that index, connections hang and the "
        "job aborts; the index to use is 3 (RoCE v2): remove UCX_IB_GID_INDEX from the job's "
        "environment",
        "a GID index that does not exist is a problem");
    is_int(found.count, 1, "... which is reported once, not for every port");
    first_problem_has(
        "SLURM_STEP_NUM_NODES=2", "NCCL_IB_GID_INDEX=2",
        "NCCL_IB_GID_INDEX=2 is RoCE v1 on bnxt_re0:1: it is not routable and does not reach a "
        "port that uses RoCE v2; the index to use is 3 (RoCE v2)",
        "an index of RoCE v1 is a problem if the port has v2");
    first_problem_has("SLURM_STEP_NUM_NODES=2", "UCX_IB_GID_INDEX=3",
                      "UCX_IB_GID_INDEX=3: bnxt_re5:1 has no GID with that index",
                      "an index that one port lacks, as it has no address, is a problem");
    for (int i = 0; i < 3; i++) {
        static const char *const values[] = {"1", "auto", "-1"};

        snprintf(name, sizeof name, "UCX_IB_GID_INDEX=%s", values[i]);
        first_problem_is("SLURM_STEP_NUM_NODES=2", name, "", "%s is no problem", name);
    }
    set("SLURM_STEP_NUM_NODES=2", "UCX_IB_GID_INDEX=9", "NCCL_IB_GID_INDEX=9");
    environment[3] = "NCCL_NET=Socket";
    environment[4] = "SLURM_STEP_GPUS=0,1,2,3,4,5,6,7";
    refuse_access("renderD128", ENOENT);
    strcpy(node->rdma[0].verbs_file, "/dev/infiniband/uverbs0");
    refuse_access("uverbs0", EACCES);
    memlock = 65536;
    conf.shm_mb = 1000;
    shared_memory = 64000000;
    first_problem();
    is_int(found.count, 7, "all problems of a task are reported");
    has_str(found.problems[0], "8 GPUs allocated", "... GPUs");
    has_str(found.problems[1], "MemlockMB", "... locked memory");
    has_str(found.problems[2], "uverbs0", "... verbs devices");
    has_str(found.problems[3], "NCCL_NET=Socket", "... TCP instead of RDMA");
    has_str(found.problems[4], "UCX_IB_GID_INDEX", "... GID indexes of UCX");
    has_str(found.problems[5], "NCCL_IB_GID_INDEX", "... and of NCCL");
    has_str(found.problems[6], "/dev/shm", "... shared memory");
    conf.shm_mb = 0;
    memlock = ULLONG_MAX;
    shared_memory = -1;
    refuse_access(NULL, 0);
    node->rdma[0].verbs_file[0] = '\0';
    first_problem_is("UCX_IB_GID_INDEX=9", NULL, "",
                     "a GID index in a step of one node is no problem");
}

static void limits(void)
{
    read_node("h100-ib");
    memlock = 65536;
    is_str(first_problem(), "", "a low limit of locked memory is no problem in a step of one node");
    first_problem_is(
        "SLURM_STEP_NUM_NODES=2", NULL,
        "0.06554 MB of locked memory, InfiniBand needs unlimited (MemlockMB): the administrator "
        "sets LimitMEMLOCK of slurmd's unit and PropagateResourceLimitsExcept=MEMLOCK",
        "... but in a step of two nodes");
    conf.memlock_mb = 64;
    has_str(first_problem(), "InfiniBand needs 64 MB (MemlockMB)",
            "the site's own limit is compared");
    memlock = 64000000;
    is_str(first_problem(), "", "... and no problem if it is met");
    conf.memlock_mb = -1;
    memlock = ULLONG_MAX;
    strcpy(node->rdma[2].verbs_file, "/dev/infiniband/uverbs2");
    strcpy(node->rdma[3].verbs_file, "/dev/infiniband/uverbs3");
    is_str(first_problem(), "", "verbs devices that can be opened are no problem");
    refuse_access("uverbs3", EPERM);
    is_str(first_problem(),
           "rail mlx5_3:1: /dev/infiniband/uverbs3 is refused by the device cgroup; InfiniBand is "
           "used through it",
           "one that cannot be opened is a problem");
    refuse_access("uverbs2", ENOENT);
    has_str(first_problem(), "uverbs2 is not there, nor can those of 1 other rails be opened",
            "two that cannot be opened are one problem");
    strcpy(node->rdma[2].state, "DOWN");
    has_str(first_problem(), "rail mlx5_3:1: ", "a rail that is down is not checked");
    memlock = 0;
    first_problem();
    is_int(found.count, 2, "two problems, two lines");
    memlock = ULLONG_MAX;
    refuse_access(NULL, 0);
    first_problem_is(
        "SLURM_STEP_NUM_NODES=2", "UCX_TLS=tcp,self,sm",
        "UCX_TLS=tcp,self,sm keeps UCX off InfiniBand: messages between nodes use TCP; remove "
        "it from the job's environment",
        "UCX with TCP only is a problem if there is RDMA");
    first_problem_is("SLURM_STEP_NUM_NODES=2", "UCX_TLS=self,\\rc_verbs", "",
                     "a list with an RDMA transport is no problem");
    first_problem_is("SLURM_STEP_NUM_NODES=2", "UCX_TLS=^tcp", "",
                     "a list of excluded transports is no problem");
    first_problem_has("SLURM_STEP_NUM_NODES=2", "NCCL_IB_DISABLE=1",
                      "NCCL_IB_DISABLE=1 keeps NCCL off InfiniBand: ",
                      "NCCL with RDMA switched off is a problem");
    set("SLURM_STEP_NUM_NODES=2", "NCCL_IB_DISABLE=0", "NCCL_NET=IB");
    is_str(first_problem(), "", "NCCL with RDMA is no problem");
    first_problem_has(
        "SLURM_STEP_NUM_NODES=2", "NCCL_NET=Socket",
        "NCCL_NET=Socket keeps NCCL off InfiniBand: ", "NCCL over sockets is a problem");
    first_problem_is("UCX_TLS=tcp", NULL, "", "TCP in a step of one node is no problem");
    gid_indexes();
    read_node("ethernet");
    first_problem_is("SLURM_STEP_NUM_NODES=2", "UCX_TLS=tcp", "",
                     "TCP is no problem if there is nothing else");
    set("SLURM_STEP_NUM_NODES=2", NULL, NULL);
    memlock = 0;
    is_str(first_problem(), "", "plain Ethernet needs no locked memory");
    shared_memory = 64000000;
    is_str(first_problem(), "", "any size of shared memory is enough");
    conf.shm_mb = 8000;
    is_str(first_problem(),
           "/dev/shm has 64 MB, ShmMB asks for 8000; ranks on one node communicate through it",
           "... unless ShmMB is larger");
    shared_memory = 8000000000;
    is_str(first_problem(), "", "... a size above ShmMB is enough");
    shared_memory = -1;
    is_str(first_problem(), "", "... an unknown size is no problem");
    conf.shm_mb = 0;
}

static void propagated(void)
{
    is_int(stepcheck_memlock(NULL, 1000, 2000), 1000,
           "the present limit counts if none is propagated");
    is_int(stepcheck_memlock("1500", 1000, 2000), 1500, "the propagated limit counts");
    is_int(stepcheck_memlock("U500", 1000, 2000), 500, "... also with the U of a user's request");
    is_int(stepcheck_memlock("3000", 1000, 2000), 1000,
           "a limit above the hard limit changes nothing");
    ok(stepcheck_memlock("18446744073709551615", 1000, ULLONG_MAX) == ULLONG_MAX,
       "an unlimited limit is propagated");
    is_int(stepcheck_memlock("99999999999999999999999", 1000, 2000), 1000,
           "a number above 64 bits is ignored");
    is_int(stepcheck_memlock("U", 1000, 2000), 1000, "U without a number is ignored");
    is_int(stepcheck_memlock("-1", 1000, 2000), 1000, "a negative number is ignored");
    is_int(stepcheck_memlock("12x", 1000, 2000), 1000,
           "a number with a letter after it is ignored");
}

static void verbs_files(void)
{
    char *root = tree_unpack("h100-ib");

    tree_put(root, "sys/class/infiniband_verbs/abi_version", "6");
    tree_put(root, "sys/class/infiniband_verbs/uverbs7/ibdev", "mlx5_3");
    inventory_free(node);
    node = inventory_read(root, NULL);
    is_str(node->rdma[3].verbs_file, "/dev/infiniband/uverbs7",
           "the verbs file of a device is read");
    is_str(node->rdma[4].verbs_file, "", "... and empty if it is not known");
    tree_remove(root);
}

int main(void)
{
    conf_defaults(&conf);
    devices();
    nvidia();
    amd();
    limits();
    propagated();
    verbs_files();
    inventory_free(node);
    gres_devices_clear(&gres);
    slurm_lines_clear(&lines);
    conf_clear(&conf);
    return tap_done();
}
