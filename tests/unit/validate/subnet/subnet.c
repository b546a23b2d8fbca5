/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/subnet.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "validate/subnet/findings/findings.h"
#include "validate/subnet/outline.h"

static struct subnet subnet;
static struct subnet_neighbors neighbors;
static struct subnet_findings findings;
static struct error err;

static void subnet_reset(void)
{
    subnet_clear(&subnet);
    subnet_neighbors_clear(&neighbors);
    subnet_findings_clear(&findings);
}

/* Adds what a node receives on its interface eth0, eth1 and so on. mbps 0: unknown. */
static void add_neighbor(int rail, const char *chassis, const char *port, int mbps)
{
    struct subnet_neighbor neighbor = {.rate = {mbps > 0, mbps}};

    snprintf(neighbor.interface, sizeof neighbor.interface, "eth%d", rail);
    snprintf(neighbor.chassis, sizeof neighbor.chassis, "%s", chassis);
    snprintf(neighbor.name, sizeof neighbor.name, "%s", chassis);
    snprintf(neighbor.port, sizeof neighbor.port, "%s", port);
    if (subnet_neighbors_add(&neighbors, &neighbor, &err) != 0)
        tap_skip_all("%s", err.text);
}

static void add_node(int number)
{
    char name[16];

    snprintf(name, sizeof name, "n%d", number);
    if (subnet_neighbors_node(&neighbors, name, &err) != 0)
        tap_skip_all("%s", err.text);
}

/* Returns the number of findings; -1 on an error. */
static int count_findings(void)
{
    if ((neighbors.nodes.count > 0 && subnet_neighbors_build(&neighbors, &subnet, &err) != 0) ||
        subnet_finish(&subnet, &err) != 0 || subnet_judge(&subnet, NULL, &findings) != 0) {
        tap_diag("%s", err.text);
        return -1;
    }
    for (size_t i = 0; i < findings.count && i < 9; i++)
        tap_diag("%s", findings.items[i].text);
    return (int)findings.count;
}

/* Begins a subnet of one switch. Returns its index. */
static int begin_leaf(int ports)
{
    subnet_reset();
    return subnet_add(&subnet, SUBNET_SWITCH, 1, NULL, "leaf1", ports, &err);
}

static int add_adapter(const char *description, uint64_t guid, int device, int port)
{
    int added = subnet_add(&subnet, SUBNET_ADAPTER, guid, NULL, description, 1, &err);

    if (added < 0 || subnet_link(&subnet, subnet_port(&subnet, added, 1),
                                 subnet_port(&subnet, device, port), &err) != 0)
        tap_skip_all("%s", err.text);
    return added;
}

/* A switch that does not report a speed is not slow. */
static void test_unknown_rate(void)
{
    subnet_reset();
    for (int i = 1; i <= 8; i++) {
        char port[16];

        add_node(i);
        snprintf(port, sizeof port, "Eth1/%d", i);
        add_neighbor(0, "leaf1", port, i == 3 ? 0 : i == 5 ? 50000 : 100000);
    }
    is_int(count_findings(), 1, "of 8 links one is slower, and one has an unknown speed");
    is_str(findings.count > 0 ? findings.items[0].node : "", "n5",
           "... the slower one is reported");
}

/* If a switch gives all its ports the same label, each cable is a port of its own. */
static void test_same_label(void)
{
    subnet_reset();
    for (int i = 1; i <= 4; i++) {
        add_node(i);
        add_neighbor(0, "leaf1", "a server", 100000);
    }
    is_int(count_findings(), 0, "a switch with the same label on all ports");
    is_int((int)subnet.attachment_count, 4, "... has a port for each node");
}

/* A node that sees no switch is reported. If no node does, the switches do not send LLDP. */
static void test_no_neighbors(void)
{
    subnet_reset();
    for (int i = 1; i <= 4; i++) {
        add_node(i);
        if (i <= 2)
            add_neighbor(0, "leaf1", i == 1 ? "Eth1/1" : "Eth1/2", 100000);
    }
    is_int(count_findings(), 1, "two of four nodes see no switch");
    ok(findings.count > 0 && strncmp(findings.items[0].text, "n[3-4]: no switch", 17) == 0 &&
           findings.items[0].verdict == VERDICT_WARN,
       "... they get a warning");
    subnet_reset();
    for (int i = 1; i <= 4; i++)
        add_node(i);
    is_int(count_findings(), 0, "no node sees a switch");
}

/* LLDP cannot distinguish a bad cable from an adapter with a lower speed. */
static void warns_of_slow_ethernet(void)
{
    for (int nodes = 2; nodes <= 4; nodes += 2) {
        subnet_reset();
        for (int i = 1; i <= nodes; i++) {
            char port[16];

            add_node(i);
            snprintf(port, sizeof port, "Eth1/%d", i);
            add_neighbor(1, "leaf1", port, i == nodes ? 25000 : 200000);
        }
        is_int(count_findings(), 1, "of %d nodes on Ethernet one is slower", nodes);
        is_int(findings.count > 0 ? (int)findings.items[0].verdict : -1, VERDICT_WARN,
               "... which is a warning");
    }
}

/* If two links do not report what they support, either may be the normal one. */
static void warns_of_one_of_two(void)
{
    for (int reports_support = 0; reports_support < 2; reports_support++) {
        int device = begin_leaf(8);

        add_adapter("n1 mlx5_0", 0x21, device, 1);
        add_adapter("n2 mlx5_0", 0x22, device, 2);
        for (size_t i = 0; i < subnet.port_count; i++) {
            struct subnet_port *port = &subnet.ports[i];

            port->active = (struct subnet_rate){4, 50000};
            if (reports_support)
                port->supported = port->active;
            if (port->peer >= 0 && (port->number == 2 || subnet.ports[port->peer].number == 2))
                port->active.lanes = 1;
        }
        is_int(count_findings(), 1, "of two links one is narrow");
        is_int(findings.count > 0 ? (int)findings.items[0].verdict : -1,
               reports_support ? VERDICT_FAIL : VERDICT_WARN, "... %s",
               reports_support ? "though both could do more" : "which may be all that it can");
    }
}

/* An adapter without a node description still counts as present. */
static void warns_of_unnamed_rail(void)
{
    int device = begin_leaf(16);

    for (int i = 1; i <= 4; i++) {
        char name[48];

        snprintf(name, sizeof name, "n%d mlx5_0", i);
        add_adapter(name, (uint64_t)(0x20 + i), device, i);
        snprintf(name, sizeof name, "n%d mlx5_1", i);
        add_adapter(i == 4 ? "MT4129 ConnectX7   Mellanox Technologies" : name,
                    (uint64_t)(0x40 + i), device, 8 + i);
    }
    is_int(count_findings(), 1, "of 8 adapters one has no name");
    is_int(findings.count > 0 ? (int)findings.items[0].verdict : -1, VERDICT_WARN,
           "... which is no missing rail");
    has_str(findings.count > 0 ? findings.items[0].text : "", "n4 mlx5_1:1 has no link or no name",
            "... the message says so");
}

/* The adapter on the leaf's port 4 has a slow link, and its name is no one node's. */
static void blames_no_node(const char *name, const char *what, int expected)
{
    int device = begin_leaf(8);
    bool is_about_node = false;
    size_t slow = 0;

    add_adapter("n1 mlx5_0", 0x21, device, 1);
    add_adapter("n2 mlx5_0", 0x22, device, 2);
    add_adapter("n3 mlx5_0", 0x23, device, 3);
    add_adapter(name, 0x24, device, 4);
    for (size_t i = 0; i < subnet.port_count; i++) {
        struct subnet_port *port = &subnet.ports[i];

        port->supported = port->enabled = (struct subnet_rate){4, 50000};
        port->active = (struct subnet_rate){i == 3 || port->peer == 3 ? 1 : 4, 50000};
    }
    is_int(count_findings(), expected, "%s, and its link is slow", what);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].kind == SUBNET_RATE) {
            slow++;
            is_about_node = *findings.items[i].node;
            is_str(findings.items[i].part, "leaf1 (0x0000000000000001) port 4",
                   "... the finding names the switch's port");
            is_str(verdict_name(findings.items[i].verdict), "warn",
                   "... and fails no run that is about other nodes");
        }
    is_int((int)slow, 1, "... once");
    ok(!is_about_node, "... and no node, whose certificate it would cost");
}

/* Texts from switches appear in messages and in topology.conf. */
static void test_control_characters(void)
{
    static const char text[] =
        "{\"lldp\":{\"interface\":{\"eth0\":{\"chassis\":{\"leaf\\u001b[2J\":{\"id\":{\"type\":"
        "\"local\",\"value\":\"x\\nSwitchName=y\"}}},\"port\":{\"id\":{\"type\":\"ifname\","
        "\"value\":"
        "\"p\\u00071\"}}}}}}";
    int control_characters = 0;

    subnet_reset();
    is_int(subnet_neighbors_read(&neighbors, "n1", text, strlen(text), &err), 0,
           "a switch with control characters in its name");
    is_int(count_findings(), 0, "... is read");
    for (size_t i = 0; i < subnet.device_count; i++) {
        const struct subnet_device *device = &subnet.devices[i];

        for (const char *at = device->id; *at; at++)
            control_characters += *at < ' ';
        for (const char *at = device->name; *at; at++)
            control_characters += *at < ' ';
    }
    for (size_t i = 0; i < subnet.port_count; i++)
        for (const char *at = subnet.ports[i].label; *at; at++)
            control_characters += *at < ' ';
    is_int(control_characters, 0, "... without control characters");
    is_str(subnet.device_count > 0 ? subnet.devices[0].id : "", "x?SwitchName=y",
           "... in one line");
}

/* A switch is named "id", like the key of an ID. Another neighbor has no ID. */
static void keeps_neighbors_beside_unusual_ones(void)
{
    static const char text[] =
        "{\"lldp\":{\"interface\":["
        "{\"eth0\":{\"chassis\":{\"id\":{\"id\":{\"type\":\"mac\",\"value\":\"00:11\"}}},"
        "\"port\":{\"id\":{\"type\":\"ifname\",\"value\":\"p1\"}}}},"
        "{\"eth1\":{\"chassis\":{\"leaf\":{\"descr\":\"x\"}},\"port\":{}}},"
        "{\"eth2\":{\"chassis\":{\"id\":{\"type\":\"mac\",\"value\":\"00:22\"}},"
        "\"port\":{\"id\":{\"type\":\"ifname\",\"value\":\"p3\"}}}}]}}";

    subnet_reset();
    is_int(subnet_neighbors_read(&neighbors, "n1", text, strlen(text), &err), 0,
           "a switch named \"id\", and a neighbor without an ID");
    is_int((int)neighbors.count, 2, "... two neighbors are read");
    is_str(neighbors.count > 0 ? neighbors.items[0].name : "", "id",
           "... the switch with its name");
    is_str(neighbors.count > 0 ? neighbors.items[0].chassis : "", "00:11", "... and its ID");
    is_str(neighbors.count > 1 ? neighbors.items[1].chassis : "", "00:22",
           "... and the one without a name");
}

/* Adapters whose description is only the node's name are numbered by GUID. */
static void test_numbers(void)
{
    int device = begin_leaf(8), adapters[5];

    adapters[0] = add_adapter("n2", 0x30, device, 1);
    adapters[1] = add_adapter("n1", 0x22, device, 2);
    adapters[2] = add_adapter("n2", 0x10, device, 3);
    adapters[3] = add_adapter("n1", 0x21, device, 4);
    adapters[4] = add_adapter("n2", 0x20, device, 5);
    is_int(subnet_finish(&subnet, &err), 0, "adapters with only the node's name are numbered");
    is_str(subnet.devices[adapters[0]].adapter, "hca2", "... n2's last one");
    is_str(subnet.devices[adapters[2]].adapter, "hca0", "... n2's first one");
    is_str(subnet.devices[adapters[4]].adapter, "hca1", "... n2's second one");
    is_str(subnet.devices[adapters[1]].adapter, "hca1", "... n1's second one");
    is_str(subnet.devices[adapters[3]].adapter, "hca0", "... n1's first one");
}

/* The outline becomes topology.conf. */
static void leaves_out_odd_names(void)
{
    struct outline outline;
    int device = begin_leaf(8);

    add_adapter("n1 mlx5_0", 0x21, device, 1);
    add_adapter("n2,x[ mlx5_0", 0x22, device, 2);
    add_adapter("#n3 mlx5_0", 0x23, device, 3);
    add_adapter("n_4-a mlx5_0", 0x24, device, 4);
    is_int(subnet_finish(&subnet, &err), 0, "adapters with odd descriptions");
    is_int(subnet_outline(&subnet, NULL, &outline), 0, "... have an outline");
    if (is_int((int)outline.count, 1, "... of one leaf")) {
        is_int((int)outline.items[0].members.count, 2, "... with two nodes");
        is_str(outline.items[0].members.names[0], "n1", "... n1");
        is_str(outline.items[0].members.names[1], "n_4-a", "... and n_4-a");
    }
    outline_clear(&outline);
}

/* PortInfo's byte for speeds above NDR. */
static void test_xdr(void)
{
    unsigned char info[64] = {0};

    is_int(subnet_speed_of_info(info, SUBNET_ACTIVE), 0, "a port without XDR");
    info[56] = 0x29;
    is_int(subnet_speed_of_info(info, SUBNET_ACTIVE), 200000, "a port at XDR");
    is_int(subnet_speed_of_info(info, SUBNET_SUPPORTED), 200000, "... that supports XDR");
    is_int(subnet_speed_of_info(info, SUBNET_ENABLED), 200000, "... and has it enabled");
    info[56] = 0x08;
    is_int(subnet_speed_of_info(info, SUBNET_ACTIVE), 0,
           "a port that supports XDR without using it");
    is_int(subnet_speed_of_info(info, SUBNET_SUPPORTED), 200000, "... supports it");
}

/* PortInfo's other masks: LinkSpeed*, LinkSpeedExt*, and FDR10's. */
static void test_masks(void)
{
    is_int(subnet_speed_of_masks(7, 15, 1), 100000, "a port with all speeds has NDR");
    is_int(subnet_speed_of_masks(7, 1, 1), 14000, "... one with FDR has 14 Gb/s");
    is_int(subnet_speed_of_masks(7, 0, 1), 10300, "... one with FDR10 has 10.3 Gb/s");
    is_int(subnet_speed_of_masks(3, 0, 0), 5000, "... one with DDR has 5 Gb/s");
    is_int(subnet_speed_of_masks(7, 30, 0), 10000, "30 is no mask: extended speeds are disabled");
    is_int(subnet_speed_of_masks(7, 30, 1), 10300, "... but FDR10 is not");
}

/* A single switch lacks no uplink, whatever is connected. */
static void test_one_switch(void)
{
    for (int has_names = 0; has_names < 2; has_names++) {
        int device = begin_leaf(8);

        for (int i = 1; i <= 4; i++) {
            char name[48];

            snprintf(name, sizeof name, has_names ? "n%d mlx5_0" : "MT4129 ConnectX7 %d", i);
            add_adapter(name, (uint64_t)(0x20 + i), device, i);
        }
        is_int(count_findings(), 0, "one switch with four %s",
               has_names ? "nodes" : "nameless adapters");
    }
}

static double processor_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What takes a second here would take hours if time grew with the square of the nodes. */
static void test_many(void)
{
    enum { NODES = 10000, RAILS = 8, LEAF = 16, CHIP = 200 };
    double begin_s = processor_s();
    int device = -1;

    subnet_reset();
    for (int i = 0; i < NODES; i++) {
        add_node(i + 1);
        for (int rail = 0; rail < RAILS; rail++) {
            char leaf[32], port[16];

            snprintf(leaf, sizeof leaf, "leaf%d-%d", i / LEAF, rail);
            snprintf(port, sizeof port, "Eth1/%d", i % LEAF + 1);
            add_neighbor(rail, leaf, port, i == 4321 && rail == 5 ? 100000 : 400000);
        }
    }
    is_int(count_findings(), 1, "10,000 nodes with 8 rails by LLDP have one slow link");
    is_str(findings.count > 0 ? findings.items[0].node : "", "n4322", "... on its node");
    subnet_reset();
    for (int i = 0; i < NODES * RAILS; i++) {
        char name[16];

        if (i % CHIP == 0) {
            snprintf(name, sizeof name, "leaf%d", i / CHIP);
            device = subnet_add(&subnet, SUBNET_SWITCH, (uint64_t)i + 1, NULL, name, CHIP, &err);
        }
        snprintf(name, sizeof name, "n%d", i % NODES + 1);
        add_adapter(name, (uint64_t)i + 0x1000000, device, i % CHIP + 1);
    }
    is_int(subnet_finish(&subnet, &err), 0,
           "80,000 adapters with only the node's name are numbered");
    is_int((int)subnet.rails.count, RAILS, "... they form 8 rails");
    printf("# %.2f s of processor time\n", processor_s() - begin_s);
}

int main(void)
{
    test_unknown_rate();
    test_same_label();
    test_no_neighbors();
    warns_of_slow_ethernet();
    warns_of_one_of_two();
    warns_of_unnamed_rail();
    blames_no_node("n1 mlx5_0", "an adapter has the name of another", 2);
    blames_no_node("MT4129 ConnectX7   Mellanox Technologies", "an adapter has no name", 1);
    test_control_characters();
    keeps_neighbors_beside_unusual_ones();
    test_numbers();
    leaves_out_odd_names();
    test_xdr();
    test_masks();
    test_one_switch();
    test_many();
    subnet_reset();
    return tap_done();
}
