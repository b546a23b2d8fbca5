/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INVENTORY_H
#define MUSTER_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/node/gpu/vendors.h"

/* The hardware and interfaces of one node, read from /sys and /proc, and its addresses and routes
 * from the kernel by rtnetlink. Uses no library and no program, and opens no device. A recorded
 * tree of files is a complete test case: there the addresses come from /proc/net. An unknown number
 * is -1, an unknown text "". */

enum {
    INVENTORY_NAME = 64,
    INVENTORY_NICS = 256,
    INVENTORY_RDMA = 256, /* eight Gaudi cards have 192 ports */
    INVENTORY_GIDS = 64,
    INVENTORY_GPUS = 64,
    INVENTORY_ADDRESSES = 8,
    INVENTORY_PATH = 256,
};

/* The location of a device. pci is "0000:3b:00.0". path leads from the host bridge to the device,
 * as in sysfs: "pci0000:3a/0000:3a:00.0/0000:3b:00.0", or "" if /sys/devices does not show it.
 * Speeds are parsed from "16.0 GT/s PCIe". The port is the PCI function above; -1 if there is
 * none. */
struct location {
    char pci[INVENTORY_NAME];
    char path[INVENTORY_PATH];
    int numa_node;
    double link_speed_gtps, link_speed_max_gtps; /* 10^9 transfers/s per lane */
    int link_width, link_width_max;              /* lanes */
    double port_speed_max_gtps;
    int port_width_max;
};

/* Return the maximum of the device's link: the lesser of its own maximum and the port's. -1 if its
 * own is not known. */
double location_speed_limit(const struct location *location);
int location_width_limit(const struct location *location);

/* Compares two PCI addresses, which are hexadecimal; the domain may have more than four digits. */
int location_compare(const char *pci, const char *other);

/* Returns whether two PCI addresses are of one device: they differ in the function at most. */
bool location_is_same_device(const char *pci, const char *other);

struct nic {
    char name[INVENTORY_NAME];
    char driver[INVENTORY_NAME]; /* if there is no device, the kind: "veth", "bond", "bridge" ... */
    struct location location;
    char bus[INVENTORY_NAME];    /* of the device behind it: "pci", "virtio", "usb", "vmbus" */
    int index;                   /* the kernel's (ifindex) */
    char master[INVENTORY_NAME]; /* the bond, bridge or VRF that it is a member of, or "" */
    char lower[INVENTORY_NAME];  /* the interface below a VLAN, a macvlan or the like (of a bond or
                                    bridge its first member), or "" */
    bool is_physical; /* has a device. If no interface has: is an end of a veth pair in no bridge.
                         False for lo, bridges, bonds, tunnels, dummies, VLANs */
    bool is_virtual_function; /* SR-IOV: device/physfn exists */
    char mac[INVENTORY_NAME];
    int arp_type;   /* /sys/class/net/X/type: 1 Ethernet, 32 InfiniBand */
    int speed_mbps; /* 10^6 bit/s */
    int mtu_bytes;
    bool is_up;                 /* administrative state, IFF_UP */
    bool has_carrier;           /* the link is there */
    char state[INVENTORY_NAME]; /* operstate: "up", "down", ... */
    long carrier_changes;
    long carrier_ups; /* how often the link came up since boot; -1: not known */
    bool has_default_route;
    long default_route_metric; /* of the best route; -1 without a route */
    /* "10.1.0.3/24", IPv4 first, then IPv6 except link-local, in the kernel's order. A recorded
     * tree has the node's IPv4 addresses and each interface's networks, but not which address is on
     * which interface. If two interfaces share a network, its addresses are given to them in order,
     * after addresses that an RDMA GID assigns to an interface. Then the number of addresses of an
     * interface is certain, but not which ones. */
    char addresses[INVENTORY_ADDRESSES][INVENTORY_NAME];
    size_t address_count;
    bool has_known_addresses;               /* false: it may have addresses that are not listed */
    char duplicate_address[INVENTORY_NAME]; /* an IPv6 address that the kernel does not use, because
                                               another host has it (duplicate address detection); or
                                               "" */
};

enum link_layer { LINK_UNKNOWN, LINK_INFINIBAND, LINK_ETHERNET };
enum gid_type { GID_UNKNOWN, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
    int index;
    enum gid_type type;
    char gid[INVENTORY_NAME];    /* as sysfs prints it, 8 groups of 4 hexadecimal digits */
    char netdev[INVENTORY_NAME]; /* gid_attrs/ndevs/N */
};

/* A port of an RDMA device; a device with two ports has two entries. Zero GIDs are left out. */
struct rdma_port {
    char device[INVENTORY_NAME]; /* "mlx5_0", "rxe0", "hbl_0", "bnxt_re0", "rdmap0s6" */
    int port;
    char driver[INVENTORY_NAME];
    char node_type[INVENTORY_NAME]; /* "CA", "RNIC" (iWARP), "unspecified" (EFA) ... */
    char firmware[INVENTORY_NAME];
    struct location location;
    bool is_virtual_function;
    bool is_software; /* RDMA in the kernel over an interface (rxe, siw): it has a "parent" */
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
    char model[INVENTORY_NAME];  /* the driver's name of the model, or "10de:2330" */
    char serial[INVENTORY_NAME]; /* unique_id, UUID or serial number, whichever exists */
    char firmware[INVENTORY_NAME];
    char device_file[INVENTORY_NAME]; /* "/dev/nvidia0", "/dev/dri/renderD128", "/dev/accel/accel0"
                                       */
    char state[INVENTORY_NAME];       /* Gaudi's status; "" elsewhere */
    long long memory_bytes;
    long ecc_uncorrected, ecc_corrected;
    long reset_count;
    char fabric_id[INVENTORY_NAME]; /* XGMI hive id */
    int ordinal; /* its number, for drivers that do not number by PCI address: AMD's KFD node (of
                    the first partition), Gaudi's module number; -1 for others or not known */
    bool is_partitioned; /* NVIDIA: has MIG instances; AMD: is several KFD nodes (DPX ... CPX) */
    bool is_excluded;    /* NVIDIA: its driver does not use it (NVreg_ExcludedGpus) */
    int tile_count;      /* Intel: dies that programs may see as devices; 0: others, or not known */
};

struct inventory {
    char hostname[INVENTORY_NAME]; /* /proc/sys/kernel/hostname, up to the first dot */
    char kernel[INVENTORY_NAME];   /* release */
    char boot_id[INVENTORY_NAME];
    int cpu_count; /* online */
    int numa_node_count;
    bool is_virtual_machine; /* false also if it is not known */
    long long memory_bytes;
    char gpu_drivers[GPU_VENDORS][INVENTORY_NAME]; /* version of the vendor's loaded module; "" also
                                                      if the kernel's own driver is used */
    struct nic nics[INVENTORY_NICS]; /* without lo; in the natural order of names (eth2 < eth10) */
    size_t nic_count;
    struct rdma_port rdma[INVENTORY_RDMA]; /* by device and port, same order */
    size_t rdma_count;
    struct gpu gpus[INVENTORY_GPUS]; /* by PCI address */
    size_t gpu_count;
};

/* Reads the node below root ("" or "/" for this machine). Takes a few ms. Returns the inventory, to
 * be released with inventory_free(), or NULL with err. A missing file leaves its field unknown. If
 * there are more interfaces than fit, the host ends of its containers' veth pairs are left out.
 * Errors are: more devices than fit, a root without a sys directory, a kernel that does not answer,
 * or no memory or descriptors while reading (a part of a node would look like a changed node). */
struct inventory *inventory_read(const char *root, struct error *err);
void inventory_free(struct inventory *inventory);

/* Returns the NIC with this name, or NULL. */
const struct nic *inventory_nic(const struct inventory *inventory, const char *name);

/* Return whether the NIC is up and has a carrier, and whether sockets can use it now, as it also
 * has an address. */
bool nic_has_link(const struct nic *nic);
bool nic_has_sockets(const struct nic *nic);

bool inventory_has_gpu(const struct inventory *inventory, enum gpu_vendor vendor);

/* Returns the index of the GPU at this PCI address, or -1. AMD's older drivers write the number of
 * a partition in place of the function (kfd_topology.c): then it is the GPU of the same device. */
long inventory_gpu_at(const struct inventory *inventory, const char *pci);

/* Returns the first RDMA port that shares netdev, or NULL. */
const struct rdma_port *inventory_rdma_of(const struct inventory *inventory, const char *netdev);

/* Whether a driver keeps the GPU for virtual machines: vfio-pci, one made from it, such as
 * nvgrace_gpu_vfio_pci of Linux 6.9 (drivers/vfio/pci), or pci-stub. */
bool gpu_is_passed_through(const struct gpu *gpu);

/* Whether programs of this host can use the GPU: it has a driver, which does not exclude it or keep
 * it for virtual machines. */
bool gpu_is_usable(const struct gpu *gpu);

const char *link_layer_name(enum link_layer layer); /* "InfiniBand", "Ethernet", "unknown" */
const char *gid_type_name(enum gid_type type);      /* "IB", "RoCE v1", "RoCE v2", "unknown" */
const char *
gpu_vendor_name(enum gpu_vendor vendor); /* "NVIDIA", "AMD", "Gaudi", "Intel", "other" */

#endif
