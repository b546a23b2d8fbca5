/* SPDX-License-Identifier: Apache-2.0 */
/* muster_port - while it is loaded, the ports of one RDMA device say that they are down, whatever
 * their interfaces are: as after an error of a device whose RDMA driver has not come up again. */
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static char *device = "rxe2";
module_param(device, charp, 0444);

static struct ib_device *found;
static int (*query_port)(struct ib_device *, u32, struct ib_port_attr *);

static int query_down(struct ib_device *asked, u32 port, struct ib_port_attr *attributes)
{
    int status = query_port(asked, port, attributes);

    attributes->state = IB_PORT_DOWN;
    attributes->phys_state = IB_PORT_PHYS_STATE_DISABLED;
    return status;
}

static int add(struct ib_device *offered)
{
    if (strcmp(dev_name(&offered->dev), device) != 0)
        return -EOPNOTSUPP;
    found = offered;
    query_port = found->ops.query_port;
    WRITE_ONCE(found->ops.query_port, query_down);
    return 0;
}

static void remove(struct ib_device *offered, void *unused)
{
    if (offered != found)
        return;
    WRITE_ONCE(found->ops.query_port, query_port);
    found = NULL;
}

static struct ib_client client = {.name = "muster_port", .add = add, .remove = remove};

static int __init port_init(void)
{
    int status = ib_register_client(&client);

    if (status || found)
        return status;
    ib_unregister_client(&client);
    return -ENODEV;
}

static void __exit port_exit(void)
{
    ib_unregister_client(&client);
}

module_init(port_init);
module_exit(port_exit);
MODULE_LICENSE("Dual MIT/GPL"); /* or the kernel does not let it at what it needs */
MODULE_DESCRIPTION("RDMA ports that are down with their interface up, for tests");
