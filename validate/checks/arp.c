/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define UNUSED_ADDRESS "192.0.2.1" /* TEST-NET-1, RFC 5737 */

static bool parse_mac(const char *text, unsigned char mac[6])
{
    return strlen(text) == 17 && sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0],
                                        &mac[1], &mac[2], &mac[3], &mac[4], &mac[5]) == 6;
}

static bool is_own_mac(const struct inventory *inventory, const unsigned char mac[6])
{
    unsigned char own[6];

    for (size_t i = 0; i < inventory->nic_count; i++)
        if (parse_mac(inventory->nics[i].mac, own) && memcmp(own, mac, 6) == 0)
            return true;
    return false;
}

static void send_probe(int fd, const struct nic *nic, uint32_t address)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_ARP),
                             .sll_ifindex = nic->index,
                             .sll_halen = 6,
                             .sll_addr = {255, 255, 255, 255, 255, 255}};
    struct ether_arp probe = {.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
                                         .ar_pro = htons(ETH_P_IP),
                                         .ar_hln = 6,
                                         .ar_pln = 4,
                                         .ar_op = htons(ARPOP_REQUEST)}};

    if (!parse_mac(nic->mac, probe.arp_sha))
        return;
    memcpy(probe.arp_tpa, &address, 4);
    sendto(fd, &probe, sizeof probe, 0, (struct sockaddr *)&to, sizeof to);
}

/* Calls take() for each ARP packet received until end_ms. */
static void receive_until(int fd, long end_ms,
                          void (*take)(const struct ether_arp *packet, int index, void *context),
                          void *context)
{
    for (;;) {
        long left_ms = end_ms - clock_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        struct sockaddr_ll from = {0};
        socklen_t size = sizeof from;
        struct ether_arp packet;
        ssize_t got;

        if (left_ms <= 0 || (poll(&wait, 1, (int)left_ms) < 0 && errno != EINTR))
            return;
        got = recvfrom(fd, &packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
        if (got == (ssize_t)sizeof packet && packet.ea_hdr.ar_pln == 4 &&
            packet.ea_hdr.ar_hln == 6 && from.sll_pkttype != PACKET_OUTGOING)
            take(&packet, from.sll_ifindex, context);
    }
}

struct probe {
    const struct inventory *inventory;
    struct arp_address *addresses;
    size_t count;
};

static void handle_answer(const struct ether_arp *packet, int index, void *context)
{
    struct probe *probe = context;

    for (size_t i = 0; i < probe->count; i++) {
        struct arp_address *address = &probe->addresses[i];

        if (address->nic->index != index || memcmp(packet->arp_spa, &address->address, 4) != 0 ||
            is_own_mac(probe->inventory, packet->arp_sha))
            continue;
        memcpy(address->answering_mac, packet->arp_sha, 6);
        address->is_answered = 1;
    }
}

static void handle_proxy(const struct ether_arp *packet, int index, void *context)
{
    struct probe *probe = context;
    uint32_t unused_address = inet_addr(UNUSED_ADDRESS);

    for (size_t i = 0; i < probe->count; i++)
        if (probe->addresses[i].nic->index == index &&
            memcmp(packet->arp_spa, &unused_address, 4) == 0 &&
            memcmp(packet->arp_sha, probe->addresses[i].answering_mac, 6) == 0)
            probe->addresses[i].is_answered = 0;
}

int arp_probe(const struct inventory *inventory, struct arp_address *addresses, size_t count)
{
    struct probe probe = {inventory, addresses, count};
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ARP));
    bool is_answered = false;

    if (fd < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        send_probe(fd, addresses[i].nic, addresses[i].address);
    receive_until(fd, clock_ms() + ARP_WAIT_MS, handle_answer, &probe);
    for (size_t i = 0; i < count; i++)
        if (addresses[i].is_answered) {
            is_answered = true;
            send_probe(fd, addresses[i].nic, inet_addr(UNUSED_ADDRESS));
        }
    if (is_answered)
        receive_until(fd, clock_ms() + ARP_PROXY_WAIT_MS, handle_proxy, &probe);
    close(fd);
    return 0;
}
