/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INVENTORY_H
#define MUSTER_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/node/gpu/vendors.h"

/* What one node is made of, read from /sys and /proc, its addresses and routes from the kernel by
 * rtnetlink, and nothing else (no library, no program, no device opened). A recorded tree of files
 * is a complete test case: there the addresses are those that /proc/net tells. A number that the
 * node does not tell is -1, a text "" . */

enum {
    INVENTORY_NAME = 64,
    INVENTORY_NICS = 256,
    INVENTORY_RDMA = 256, /* eight Gaudi cards have 192 ports */
    INVENTORY_GIDS = 64,
    INVENTORY_GPUS = 64,
    INVENTORY_ADDRESSES = 8,
    INVENTORY_PATH = 256,
};

/* Where a device sits. pci is "0000:3b:00.0"; path leads from the host bridge to it, as sysfs nests
 * them: "pci0000:3a/0000:3a:00.0/0000:3b:00.0", or "" where /sys/devices is not told. Speeds in
 * GT/s as "16.0 GT/s PCIe" are parsed; the port is the PCI function above, -1 where none is. */
struct location {
    char pci[INVENTORY_NAME];
    char path[INVENTORY_PATH];
    int numa_node;
    double link_speed_gtps, link_speed_max_gtps; /* 10^9 transfers/s per lane */
    int link_width, link_width_max;              /* lanes */
    double port_speed_max_gtps;
    int port_width_max;
};

/* What the device's link can reach: the lesser of its own maximum and that of the port. -1 where
 * its own is not told. */
double location_speed_limit(const struct location *location);
int location_width_limit(const struct location *location);

/* Whether two PCI addresses differ in the function at most. */
bool location_is_same_device(const char *pci, const char *other);

struct nic {
    char name[INVENTORY_NAME];
    char driver[INVENTORY_NAME]; /* without a device the kind: "veth", "bond", "bridge" ... */
    struct location location;
    char bus[INVENTORY_NAME];    /* of the device behind it: "pci", "virtio", "usb", "vmbus" */
    int index;                   /* of the kernel's (ifindex) */
    char master[INVENTORY_NAME]; /* the bond, bridge or VRF that it is a member of, or "" */
    char lower[INVENTORY_NAME]; /* what a VLAN, a macvlan or the like stands on (of a bond or bridge
                                   its first member), or "" */
    bool is_physical; /* has a device behind it, or, where none has, is a virtual pair's end (veth)
                         that is in no bridge; false for lo, bridges, bonds, tunnels, dummies, VLANs
                       */
    bool is_virtual_function; /* SR-IOV: device/physfn exists */
    char mac[INVENTORY_NAME];
    int arp_type;   /* /sys/class/net/X/type: 1 Ethernet, 32 InfiniBand */
    int speed_mbps; /* 10^6 bit/s */
    int mtu_bytes;
    bool is_up;                 /* administrative state, IFF_UP */
    bool has_carrier;           /* the link is there */
    char state[INVENTORY_NAME]; /* operstate: "up", "down", ... */
    long carrier_changes;
    long carrier_ups; /* how often the link came since boot; -1: the kernel does not tell */
    bool has_default_route;
    long default_route_metric; /* of the best one; -1 without */
    /* "10.1.0.3/24", IPv4 first, then IPv6 without link-local ones, as the kernel lists them. Of a
     * recorded tree only the node's IPv4 addresses and each interface's networks are known, not
     * which address is on which interface: where two interfaces share one network, its addresses
     * are dealt to them in order, after those that RDMA GIDs tie to an interface. How many an
     * interface has is certain, which one then is not. */
    char addresses[INVENTORY_ADDRESSES][INVENTORY_NAME];
    size_t address_count;
    bool has_known_addresses;               /* false: that it has none is not known */
    char duplicate_address[INVENTORY_NAME]; /* an IPv6 address that the kernel found to be in use
                                               elsewhere (duplicate address detection) and does not
                                               use; or "" */
};

enum link_layer { LINK_UNKNOWN, LINK_INFINIBAND, LINK_ETHERNET };
enum gid_type { GID_UNKNOWN, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
    int index;
    enum gid_type type;
    char gid[INVENTORY_NAME];    /* as sysfs prints it, 8 groups of 4 hexadecimal digits */
    char netdev[INVENTORY_NAME]; /* gid_attrs/ndevs/N */
};

/* One port of one RDMA device; a device with two ports has two entries. Zero GIDs are left out. */
struct rdma_port {
    char device[INVENTORY_NAME]; /* "mlx5_0", "rxe0", "hbl_0", "bnxt_re0", "rdmap0s6" */
    int port;
    char driver[INVENTORY_NAME];
    char node_type[INVENTORY_NAME]; /* "CA", "RNIC" (iWARP), "UNSPECIFIED" (EFA) ... */
    char firmware[INVENTORY_NAME];
    struct location location;
    bool is_virtual_function;
    bool is_software; /* the kernel's own RDMA over an interface (rxe, siw): it has a "parent" */
    enum link_layer link_layer;
    char state[INVENTORY_NAME];      /* "ACTIVE", "DOWN", "INIT", "ARMED" */
    char phys_state[INVENTORY_NAME]; /* "LinkUp", ... */
    double rate_gbps;                /* 10^9 bit/s: "400 Gb/sec (4X NDR)" is 400 */
    int lid, sm_lid;
    char netdev[INVENTORY_NAME];     /* the interface that shares the port, or "" */
    char verbs_file[INVENTORY_NAME]; /* "/dev/infiniband/uverbs0", or "" */
    struct gid gids[INVENTORY_GIDS];
    size_t gid_count;
};

struct gpu {
    enum gpu_vendor vendor;
    struct location location;
    char driver[INVENTORY_NAME]; /* "nvidia", "amdgpu", "habanalabs", "xe", "vfio-pci", "" */
    char model[INVENTORY_NAME];  /* what the driver says, or "10de:2330" */
    char serial[INVENTORY_NAME]; /* unique_id, UUID, serial number, whichever there is */
    char firmware[INVENTORY_NAME];
    char device_file[INVENTORY_NAME]; /* "/dev/nvidia0", "/dev/dri/renderD128", "/dev/accel/accel0"
                                       */
    char state[INVENTORY_NAME];       /* Gaudi's status; "" elsewhere */
    long long memory_bytes;
    long ecc_uncorrected, ecc_corrected;
    long reset_count;
    char fabric_id[INVENTORY_NAME]; /* XGMI hive id */
    int ordinal; /* its number where that is not the order of PCI addresses: AMD's KFD node (of the
                    first partition), Gaudi's module number; -1 elsewhere or not told */
    bool is_partitioned; /* NVIDIA: has MIG instances; AMD: is several KFD nodes (DPX ... CPX) */
    bool is_excluded;    /* NVIDIA: its driver is told to leave it alone (NVreg_ExcludedGpus) */
    int tile_count;      /* Intel: dies that programs may see as devices; 0 elsewhere or not told */
};

struct inventory {
    char hostname[INVENTORY_NAME]; /* /proc/sys/kernel/hostname, up to the first dot */
    char kernel[INVENTORY_NAME];   /* release */
    char boot_id[INVENTORY_NAME];
    int cpu_count; /* online */
    int numa_node_count;
    bool is_virtual_machine; /* false also where it is not told */
    long long memory_bytes;
    char gpu_drivers[GPU_VENDORS][INVENTORY_NAME]; /* version of the vendor's loaded module; "" also
                                                      where it is the kernel's own */
    struct nic nics[INVENTORY_NICS]; /* without lo; in the natural order of names (eth2 < eth10) */
    size_t nic_count;
    struct rdma_port rdma[INVENTORY_RDMA]; /* by device and port, same order */
    size_t rdma_count;
    struct gpu gpus[INVENTORY_GPUS]; /* by PCI address */
    size_t gpu_count;
};

/* Reads the node under root ("" or "/" for this machine). The struct is large: allocate it with
 * inventory_read(), release with inventory_free(). A file that is missing leaves its field unknown.
 * Of more interfaces than fit, a host's ends of its containers' pairs are left out. More devices
 * than fit without these, a root without a sys directory, a kernel that does not answer, or want of
 * memory or descriptors while reading (half a node would look like a changed one), is an error.
 * Costs a few ms. Returns NULL with err set when it fails. */
struct inventory *inventory_read(const char *root, struct error *err);
void inventory_free(struct inventory *inventory);

/* The NIC of that name, or NULL. */
const struct nic *inventory_nic(const struct inventory *inventory, const char *name);

/* The index of the GPU at that PCI address, or -1. AMD's older drivers have the number of a
 * partition in place of the function (kfd_topology.c): that is the GPU of the same device. */
long inventory_gpu_at(const struct inventory *inventory, const char *pci);

/* The first RDMA port that shares netdev, or NULL. */
const struct rdma_port *inventory_rdma_of(const struct inventory *inventory, const char *netdev);

const char *link_layer_name(enum link_layer layer); /* "InfiniBand", "Ethernet", "unknown" */
const char *gid_type_name(enum gid_type type);      /* "IB", "RoCE v1", "RoCE v2", "unknown" */
const char *
gpu_vendor_name(enum gpu_vendor vendor); /* "NVIDIA", "AMD", "Gaudi", "Intel", "other" */

#endif
