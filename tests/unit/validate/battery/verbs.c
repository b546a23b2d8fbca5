/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "validate/battery/verbs/completion.h"
#include "validate/battery/verbs/link.h"

static void verbs_are_chosen(void)
{
    struct verbs_settings settings = verbs_defaults();
    struct error err = {""};
    char metric[48];

    is_int(settings.wanted, 15, "all verbs are wanted");
    is_int(verbs_parse("read,ud", &settings.wanted, &err), 0, "... two of them are chosen");
    is_int(settings.wanted, 1 << VERB_READ | 1 << VERB_UD, "... read and ud");
    is_int(verbs_parse("read,writes", &settings.wanted, &err), -1, "an unknown one is refused");
    is_str(err.text, "expected some of write,read,send,ud, found \"read,writes\"",
           "... with the reason");
    is_int(verbs_parse("", &settings.wanted, &err), -1, "an empty list is refused");
    verb_metric("bandwidth", VERB_UD, VERB_PAIR, metric, sizeof metric);
    is_str(metric, "bandwidth_ud_send", "a metric of a pair");
    verb_metric("bandwidth", VERB_WRITE, VERB_TOGETHER, metric, sizeof metric);
    is_str(metric, "bandwidth_rc_write_together", "... of all rails");
    verb_metric("bandwidth", VERB_WRITE, VERB_LOOPBACK, metric, sizeof metric);
    is_str(metric, "bandwidth_loopback", "... of a port with itself");
}

static void failures_are_explained(void)
{
    const struct completion_ends ends = {VERB_WRITE, "mlx5_0:1", "mlx5_2:1", "n7"};
    const struct completion_ends local = {VERB_SEND, "mlx5_0:1", "mlx5_2:1", ""};
    char text[512], again[512];

    completion_explain(IBV_WC_RETRY_EXC_ERR, 0, &ends, text, sizeof text);
    has_str(text,
            "rc_write: mlx5_2:1 of n7 does not answer (transport retries exceeded): its port "
            "is down",
            "no answer points to the peer's port");
    completion_explain(IBV_WC_RNR_RETRY_EXC_ERR, 0, &ends, text, sizeof text);
    has_str(text, "mlx5_2:1 of n7 had no receive buffer", "a receiver that is not ready");
    has_str(text, "the network carries data", "... does not point to the network");
    completion_explain(IBV_WC_REM_ACCESS_ERR, 0, &ends, text, sizeof text);
    has_str(text, "mlx5_2:1 of n7 refused access to its memory (remote protection)",
            "a protection error at the peer");
    completion_explain(IBV_WC_LOC_PROT_ERR, 0, &ends, text, sizeof text);
    has_str(text, "not registered for this access at mlx5_0:1 (local protection)",
            "... and at this end");
    completion_explain(IBV_WC_RETRY_EXC_ERR, 0, &local, text, sizeof text);
    has_str(text, "rc_send: mlx5_2:1 does not answer", "without a node name no node is named");
    completion_explain(4711, 0x81, &ends, text, sizeof text);
    has_str(text, "libibverbs status 4711 (vendor error 0x81)", "an unknown status");
    for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++) {
        completion_explain(status, 0, &ends, text, sizeof text);
        if (status != IBV_WC_INV_EECN_ERR && status != IBV_WC_INV_EEC_STATE_ERR &&
            status != IBV_WC_LOC_RDD_VIOL_ERR && status != IBV_WC_REM_INV_RD_REQ_ERR)
            ok(strstr(text, "status") == NULL, "status %d has an explanation: %s", status, text);
    }
    completion_explain(IBV_WC_RETRY_EXC_ERR, 0, &ends, again, 30);
    is_int((long)strlen(again), 29, "a long explanation is cut");
}

static struct verbs_address address_of(const char *port, const char *gid, int index, int type)
{
    struct verbs_address address = {
        .count = 1, .gid_index = index, .gid_type = type, .is_ethernet = 1, .mtu_bytes = 1024};

    inet_pton(AF_INET6, gid, address.gid);
    strcpy(address.port, port);
    return address;
}

static void gids_are_compared(void)
{
    struct verbs_address own = address_of("rxe1:1", "::ffff:10.77.0.1", 1, GID_ROCE_V2);
    struct verbs_address like = address_of("rxe2:1", "::ffff:10.77.0.2", 1, GID_ROCE_V2);
    struct verbs_address local = address_of("rxe2:1", "fe80::2", 0, GID_ROCE_V2);
    struct verbs_address old = address_of("rxe2:1", "::ffff:10.77.0.2", 2, GID_ROCE_V1);
    struct error err = {""};

    is_int(verbs_addresses_fit(&own, "n1", &like, "n2", &err), 0, "GIDs of one kind fit");
    is_int(verbs_addresses_fit(&own, "n1", &local, "n2", &err), -1, "IPv4 and link-local");
    is_str(err.text,
           "rxe1:1 of n1 uses GID index 1 (RoCE v2, ::ffff:10.77.0.1), rxe2:1 of n2 GID index 0 "
           "(RoCE v2, fe80::2): connections between them hang; use GIDs of the same kind on all "
           "nodes (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX)",
           "... are named");
    is_int(verbs_addresses_fit(&own, "n1", &old, "n2", &err), -1, "RoCE v1 and v2");
    has_str(err.text, "(RoCE v1, ::ffff:10.77.0.2)", "... are named");
    old.is_ethernet = 0;
    is_int(verbs_addresses_fit(&own, "n1", &old, "n2", &err), -1, "RoCE and InfiniBand");
    is_str(err.text,
           "rxe1:1 of n1 is RoCE, rxe2:1 of n2 is InfiniBand: they are on different fabrics; name "
           "the rails of one fabric in FabricInterfaces",
           "... are named");
    like.count = 4;
    is_int(verbs_addresses_fit(&own, "n1", &like, "n2", &err), -1,
           "different numbers of queue pairs do not fit");
}

int main(void)
{
    verbs_are_chosen();
    failures_are_explained();
    gids_are_compared();
    is_int(verbs_mtu_bytes(verbs_mtu_of(1500)), 1024, "packets of 1024 bytes fit 1500");
    is_int(verbs_mtu_bytes(verbs_mtu_of(100)), 256, "none is shorter than 256");
    is_int(verbs_mtu_bytes(verbs_mtu_of(9000)), 4096, "none is longer than 4096");
    return tap_done();
}
