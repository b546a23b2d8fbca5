/* SPDX-License-Identifier: Apache-2.0 */
/* muster_dcb - an interface whose driver has DCB and nothing else: it keeps what it is told. With
 * netdev=eth2 that interface gets the DCB instead, and has been sent so many more PFC frames each
 * time that it is asked. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

static char *netdev;
module_param(netdev, charp, 0444);
static unsigned int pauses;
module_param(pauses, uint, 0444);

static struct net_device *device;
static struct ieee_pfc pfc = {.pfc_cap = 8, .delay = 7};
static struct ieee_ets ets = {.ets_cap = 8};

static int get_pfc(struct net_device *dev, struct ieee_pfc *found)
{
    pfc.indications[3] += pauses;
    *found = pfc;
    return 0;
}

static int set_pfc(struct net_device *dev, struct ieee_pfc *wanted)
{
    /* as cards that have two queues without loss */
    if (hweight8(wanted->pfc_en) > 2)
        return -EINVAL;
    pfc = *wanted;
    return 0;
}

static int get_ets(struct net_device *dev, struct ieee_ets *found)
{
    *found = ets;
    return 0;
}

static u8 get_dcbx(struct net_device *dev)
{
    return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static const struct dcbnl_rtnl_ops dcb = {
    .ieee_getpfc = get_pfc, .ieee_setpfc = set_pfc, .ieee_getets = get_ets, .getdcbx = get_dcbx};

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *dev)
{
    dev_kfree_skb(skb);
    return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {.ndo_start_xmit = start_xmit};

static int __init dcb_init(void)
{
    int status;

    if (netdev) {
        device = dev_get_by_name(&init_net, netdev);
        if (!device)
            return -ENODEV;
        device->dcbnl_ops = &dcb;
        return 0;
    }
    device = alloc_etherdev(0);
    if (!device)
        return -ENOMEM;
    strscpy(device->name, "dcb0", IFNAMSIZ);
    eth_hw_addr_random(device);
    device->netdev_ops = &operations;
    device->dcbnl_ops = &dcb;
    status = register_netdev(device);
    if (status)
        free_netdev(device);
    return status;
}

static void __exit dcb_exit(void)
{
    if (netdev) {
        device->dcbnl_ops = NULL;
        dev_put(device);
        return;
    }
    unregister_netdev(device);
    free_netdev(device);
}

module_init(dcb_init);
module_exit(dcb_exit);
MODULE_LICENSE("Dual MIT/GPL"); /* or the kernel does not let it at what it needs */
MODULE_DESCRIPTION("an interface with DCB for tests");
