/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/fabric.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdlib.h>
#include <string.h>

static struct inventory *node;
static struct fabric fabric;

static void choose(const char *name, const struct conf *conf)
{
    inventory_free(node);
    node = tree_inventory(name);
    fabric_choose(node, conf, &fabric);
}

/* Tests the names of the rails: "a b c" */
static void rails_are(const char *expected)
{
    char names[4096] = "";

    for (size_t i = 0; i < fabric.rail_count; i++) {
        strcat(names, i ? " " : "");
        strcat(names, fabric.rails[i].name);
    }
    is_str(names, expected, "... the rails are %s", expected);
}

static void fabric_is(const char *name, enum fabric_class class, const char *management,
                      const char *rails)
{
    choose(name, NULL);
    is_int(fabric.class, class, "... its fabric is %s", fabric_class_name(class));
    is_str(fabric.management ? fabric.management->name : "", management, "... management is %s",
           management);
    rails_are(rails);
}

static void chosen_by_rules(void)
{
    fabric_is("h100-ib", FABRIC_INFINIBAND, "eno3",
              "mlx5_0:1 mlx5_1:1 mlx5_2:1 mlx5_3:1 mlx5_4:1 mlx5_5:1 mlx5_6:1 mlx5_7:1");
    is_near(fabric.rails[0].nominal_mbps, 400000, 0, "... at 400 Gb/s");
    is_str(fabric.rails[0].nominal_source, "sysfs", "... from sysfs");
    is_str(fabric.rails[0].nic ? fabric.rails[0].nic->name : "", "ib0", "... with its IPoIB NIC");
    is_int(fabric.rails[0].gid_index, -1, "... and no RoCE GID");
    has_str(fabric.reason, "management is eno3 (default route)", "the reason says why");
    fabric_is(
        "mi300x-roce", FABRIC_ROCE_V2, "eno1",
        "bnxt_re0:1 bnxt_re1:1 bnxt_re2:1 bnxt_re3:1 bnxt_re4:1 bnxt_re5:1 bnxt_re6:1 bnxt_re7:1");
    is_int(fabric.rails[0].gid_index, 3, "... the GID of v2 over IPv4, whatever its index");
    is_int(rail_ucx_gid_index(&fabric.rails[0]), 3, "... also for UCX, as it is not soft-RoCE");
    is_int(fabric.rails[5].gid_index, 1, "... and without it the link-local GID of v2");
    fabric_is(
        "gaudi3", FABRIC_GAUDI, "eno1",
        "hbl_0:1 hbl_0:2 hbl_0:3 hbl_1:1 hbl_1:2 hbl_1:3 hbl_2:1 hbl_2:2 hbl_2:3 hbl_3:1 hbl_3:2 "
        "hbl_3:3 hbl_4:1 hbl_4:2 hbl_4:3 hbl_5:1 hbl_5:2 hbl_5:3 hbl_6:1 hbl_6:2 hbl_6:3 hbl_7:1 "
        "hbl_7:2 hbl_7:3");
    /* no rails: a VF beside its PF, an unused port of another driver, USB, a bridge, its veth */
    fabric_is("ethernet", FABRIC_ETHERNET, "eno1", "ens2f0 ens2f1");
    fabric_is("rxe-pair", FABRIC_ROCE_V2, "", "rxe1:1 rxe2:1");
    is_int(fabric.rails[1].gid_index, 1, "... the GID of v2 over IPv4, after the link-local one");
    is_int(rail_ucx_gid_index(&fabric.rails[1]), 0,
           "... but the link-local GID for UCX, as it is soft-RoCE");
    is_str(fabric.rails[1].nic ? fabric.rails[1].nic->name : "", "eth2", "... on its interface");
    fabric_is("lab-node", FABRIC_ETHERNET, "eth0", "eth1 eth2");
    is_near(fabric.rails[0].nominal_mbps, 10000, 0, "... at the speed that veth reports");
    /* no rails: the bond's members, its RDMA device, and the second port, which is unused */
    fabric_is("bond", FABRIC_ROCE_V2, "bond0", "mlx5_2:1");
    is_int(fabric.unused_count, 1, "... one port is unused");
    is_str(fabric.unused_count ? fabric.unused[0].name : "", "mlx5_3:1",
           "... the second port of the card");
    has_str(fabric.reason, "left out: mlx5_3:1 down and not set up", "... and the reason says so");
    is_int(fabric.rails[0].gid_index, 2, "... not the GID of the VLAN");
    ok(rail_is_up(&fabric.rails[0]), "... the first is up");
    ok(!rail_is_up(&fabric.rails[1]), "... the second is not");
    fabric_is("broken", FABRIC_ETHERNET, "", "eth1");
    has_str(fabric.reason, "no default route", "the reason says so");
}

static void configured_rails_are(const char *tree, const char *names, const char *rails)
{
    struct conf conf;

    conf_defaults(&conf);
    hostlist_clear(&conf.fabric_interfaces);
    hostlist_expand(names, &conf.fabric_interfaces, NULL);
    choose(tree, &conf);
    rails_are(rails);
    conf_clear(&conf);
}

static void chosen_by_configuration(void)
{
    struct conf conf;

    configured_rails_are("lab-node", "eth2", "eth2");
    has_str(fabric.reason, "FabricInterfaces (conf)", "the reason says so");
    configured_rails_are("lab-node", "eth[1-3]", "eth1 eth2");
    configured_rails_are("ethernet", "docker0,ens2f0v1", "docker0 ens2f0v1");
    configured_rails_are("h100-ib", "ib[0-1],mlx5_3,mlx5_4:1",
                         "mlx5_0:1 mlx5_1:1 mlx5_3:1 mlx5_4:1");
    configured_rails_are("lab-node", "ib0", "");
    has_str(fabric.reason, "no interface in FabricInterfaces", "the reason says so");
    is_int(fabric.class, FABRIC_NONE, "... and no fabric is left");

    conf_defaults(&conf);
    strcpy(conf.management_interface, "eth2");
    conf.nominal_speed_count = 1;
    conf.nominal_speeds[0].mbps = 200;
    hostlist_expand("eth[0-1]", &conf.nominal_speeds[0].interfaces, NULL);
    choose("lab-node", &conf);
    rails_are("eth0 eth1");
    is_near(fabric.rails[0].nominal_mbps, 200, 0, "NominalSpeed takes precedence over sysfs");
    is_str(fabric.rails[0].nominal_source, "conf", "... and conf is named as the source");
    strcpy(conf.management_interface, "eth9");
    choose("lab-node", &conf);
    ok(!fabric.management, "a management interface that does not exist is not used");
    has_str(fabric.reason, "eth9 (conf), which is not on this node", "... and the reason says so");
    conf_clear(&conf);
}

/* A port that lost its link, and its address with it, is a rail. */
static void port_with_lost_link(void)
{
    char *root = tree_unpack("bond");

    tree_put(root, "sys/class/net/ens3f1np1/carrier_up_count", "1\n");
    inventory_free(node);
    node = inventory_read(root, NULL);
    tree_remove(root);
    fabric_choose(node, NULL, &fabric);
    rails_are("mlx5_2:1 mlx5_3:1");
    is_int(fabric.unused_count, 0, "a port that had a link since boot is in use");
}

/* Simulated nodes with NICs of one driver. */
static struct inventory *simulated_node;

static struct nic *add_nic(const char *name, const char *driver, const char *address)
{
    struct nic *nic = &simulated_node->nics[simulated_node->nic_count++];

    *nic = (struct nic){.is_physical = strncmp(driver, "mlx", 3) == 0,
                        .is_up = true,
                        .has_carrier = true,
                        .has_known_addresses = true,
                        .arp_type = 1,
                        .speed_mbps = 100000};
    strcpy(nic->name, name);
    strcpy(nic->driver, driver);
    if (*address)
        strcpy(nic->addresses[nic->address_count++], address);
    return nic;
}

static void set_down(struct nic *nic)
{
    nic->is_up = nic->has_carrier = false;
}

static void interfaces_on_others(void)
{
    struct conf conf;

    simulated_node = calloc(1, sizeof *simulated_node);
    add_nic("eth0", "mlx5_core", "10.0.0.1/24")->has_default_route = true;
    strcpy(add_nic("eth1", "mlx5_core", "")->master, "bond1");
    strcpy(add_nic("eth2", "mlx5_core", "")->master, "bond1");
    add_nic("bond1", "bond", "10.1.0.1/24");
    add_nic("eth3", "mlx5_core", "");
    strcpy(add_nic("eth3.100", "vlan", "fd00::1/64")->lower, "eth3");
    set_down(add_nic("eth4", "mlx5_core", ""));
    set_down(add_nic("eth5", "mlx5_core", "10.5.0.1/24"));
    add_nic("eth6", "mlx5_core", "");
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("bond1 eth3.100 eth5 eth6");
    ok(fabric.unused_count == 1 && strcmp(fabric.unused[0].name, "eth4") == 0,
       "a port that is down and has no address is unused, the others are not");
    conf_defaults(&conf);
    hostlist_append(&conf.fabric_interfaces, "eth4");
    fabric_choose(simulated_node, &conf, &fabric);
    rails_are("eth4");
    conf_clear(&conf);
    strcpy(simulated_node->nics[1].master, "");
    simulated_node->nics[6].has_known_addresses = false;
    fabric_choose(simulated_node, NULL, &fabric);
    is_int(fabric.unused_count, 0, "a port whose addresses are not known is a rail");
    memset(simulated_node, 0, sizeof *simulated_node);
    strcpy(add_nic("eth0", "mlx5_core", "")->master, "bond0");
    add_nic("bond0", "bond", "");
    strcpy(add_nic("bond0.7", "vlan", "10.0.0.1/24")->lower, "bond0");
    simulated_node->nics[2].has_default_route = true;
    add_nic("eth1", "mlx5_core", "10.1.0.1/24");
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("eth1"); /* not eth0, a member of the bond below the VLAN that is management */
    for (size_t i = 0; i < simulated_node->nic_count; i++)
        set_down(&simulated_node->nics[i]);
    simulated_node->nics[3].address_count = 0;
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("eth1"); /* it stays a rail, as no other rail and no management is up */
    memset(simulated_node, 0, sizeof *simulated_node);
    add_nic("ens1", "mlx5_core", "10.0.0.1/24")->has_default_route = true;
    set_down(add_nic("eno1", "mlx5_core", ""));
    set_down(add_nic("eno2", "mlx5_core", ""));
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("ens1"); /* management is the only NIC with a link */
    has_str(fabric.reason, "no other interface in use", "... and the reason says so");
    is_int(fabric.unused_count, 2, "... the others are unused");
    strcpy(simulated_node->nics[1].addresses[simulated_node->nics[1].address_count++],
           "10.1.0.1/24");
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("eno1"); /* a port with an address is expected to be up */
    simulated_node->nics[1].address_count = 0;
    simulated_node->nics[1].carrier_ups = 1;
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("ens1"); /* a port that was set down */
    simulated_node->nics[1].is_up = true;
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("eno1"); /* a port that lost its link may have lost its address with it */
    simulated_node->nics[1].carrier_ups = -1;
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("ens1"); /* an old kernel has no count of link changes */
    simulated_node->nics[0].has_carrier = false;
    fabric_choose(simulated_node, NULL, &fabric);
    rails_are("eno1 eno2"); /* management has no link either */
    free(simulated_node);
}

/* A single interface is both management and rail. */
static void only_management(void)
{
    char *root = tree_unpack("");

    tree_put(root, "sys/class/net/eth0/ifindex", "2\n");
    tree_put(root, "sys/class/net/eth0/device/driver", "\n");
    tree_put(root, "proc/net/route",
             "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
             "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
    inventory_free(node);
    node = inventory_read(root, NULL);
    fabric_choose(node, NULL, &fabric);
    rails_are("eth0");
    ok(fabric.management == fabric.rails[0].nic, "the only interface is management and rail");
    has_str(fabric.reason, "no other interface", "... and the reason says so");
    tree_remove(root);
}

static void classes_have_names_and_words(void)
{
    for (int class = FABRIC_ETHERNET; class <= FABRIC_INFINIBAND; class ++) {
        const char *name = fabric_class_name((enum fabric_class) class);

        is_int(fabric_class_parse(name), class, "%s is parsed by its name", name);
        is_int(fabric_class_parse(fabric_class_word((enum fabric_class) class)), class,
               "... and by its word");
    }
    is_int(fabric_class_parse("RoCE v3"), FABRIC_NONE, "an unknown class is parsed to FABRIC_NONE");
}

int main(void)
{
    classes_have_names_and_words();
    chosen_by_rules();
    chosen_by_configuration();
    only_management();
    port_with_lost_link();
    interfaces_on_others();
    inventory_free(node);
    return tap_done();
}
