/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan_parts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

size_t envplan_up_rails(const struct envplan_view *view, size_t *rails)
{
    const struct fabric *fabric = &view->node->fabric;
    size_t count = 0;

    for (size_t i = 0; i < fabric->rail_count; i++)
        if (rail_is_up(&fabric->rails[i]))
            rails[count++] = i;
    return count;
}

/* Sets *gpus to the GPUs (indexes in the inventory) that this task uses. Returns their number; 0 if
 * there are none or they are not known. why: the source, or the reason for 0, "" without GPUs. */
static size_t task_gpus(const struct envplan_view *view, const size_t **gpus, char *why,
                        size_t why_size)
{
    const struct visible_gpus *visible = view->visible;
    const struct envplan_task *task = view->task;

    *why = '\0';
    if (view->node->inventory->gpu_count == 0)
        return 0;
    if (task->launcher != ENVPLAN_RANK)
        snprintf(why, why_size, "all rails for a launcher");
    else if (!view->node->conf->nearest_rails)
        snprintf(why, why_size, "all rails by NearestRails=no");
    else if (visible == NULL)
        snprintf(why, why_size, "all rails, because the task's GPUs are unknown");
    else if (!visible->is_known)
        snprintf(why, why_size, "all rails, because the task's GPUs are unknown: %s",
                 visible->fact);
    else if (visible->count == 0)
        snprintf(why, why_size, "all rails, because the task has no GPU: %s", visible->fact);
    if (*why != '\0')
        return 0;
    *gpus = visible->gpus;
    if (view->node->conf->gpu_by_local_rank && visible->count > 1 &&
        task->local_size == (long)visible->count && task->local_rank >= 0 &&
        task->local_rank < task->local_size) {
        *gpus = &visible->gpus[task->local_rank];
        snprintf(why, why_size, "GPUByLocalRank, %s", visible->fact);
        return 1;
    }
    snprintf(why, why_size, "%s", visible->fact);
    return visible->count;
}

/* Returns the level between a GPU and the farthest rail that serves it. */
static enum affinity_level serving_level(const struct affinity *affinity, size_t gpu)
{
    enum affinity_level level = AFFINITY_SAME;

    for (size_t rail = 0; rail < affinity->rail_count; rail++)
        if (affinity->serves[gpu][rail] && affinity->level[gpu][rail] > level)
            level = affinity->level[gpu][rail];
    return level;
}

/* Formats "GPU 0000:1b:00.0 (PIX), 0000:2a:00.0 (PIX)", with at most four GPUs. */
static void print_gpus(const struct envplan_view *view, const size_t *gpus, size_t count,
                       char *text, size_t size)
{
    enum { NAMED = 4 };

    snprintf(text, size, "GPU");
    for (size_t i = 0; i < count && i < NAMED; i++)
        text_join(text, size, i > 0 ? ", " : " ", "%s (%s%s)",
                  view->node->inventory->gpus[gpus[i]].location.pci,
                  affinity_level_name(serving_level(&view->node->affinity, gpus[i])),
                  view->node->affinity.is_coarse[gpus[i]] ? " or nearer" : "");
    if (count > NAMED)
        text_join(text, size, " ", "and %zu more", count - NAMED);
}

/* Formats the IP network of an interface's first address, as "10.1.0.0/16" or "fd00:1::/64"; ""
 * without an address. */
static void ip_network(const struct nic *nic, char *text, size_t size)
{
    unsigned char address[sizeof(struct in6_addr)] = {0};
    const char *slash =
        nic != NULL && nic->address_count > 0 ? strchr(nic->addresses[0], '/') : NULL;
    int bits = slash != NULL ? atoi(slash + 1) : 0, family = AF_INET, width = 32;

    text[0] = '\0';
    if (slash == NULL)
        return;
    snprintf(text, size, "%.*s", (int)(slash - nic->addresses[0]), nic->addresses[0]);
    if (strchr(text, ':') != NULL)
        family = AF_INET6, width = 128;
    if (bits < 1 || bits > width || inet_pton(family, text, address) != 1) {
        text[0] = '\0';
        return;
    }
    for (int bit = bits; bit < width; bit++)
        address[bit / 8] &= (unsigned char)~(0x80 >> bit % 8);
    inet_ntop(family, address, text, (socklen_t)size);
    text_join(text, size, "/", "%d", bits);
}

/* Returns the interface whose address the rail's packets carry: with RoCE the GID's interface, for
 * example a VLAN. */
static const struct nic *addressed_nic(const struct envplan_view *view, const struct rail *rail)
{
    const struct rdma_port *port = rail->port;

    for (size_t i = 0; port != NULL && rail->gid_index >= 0 && i < port->gid_count; i++)
        if (port->gids[i].index == rail->gid_index && *port->gids[i].netdev != '\0')
            return inventory_nic(view->node->inventory, port->gids[i].netdev);
    return rail->nic;
}

/* Formats the network that the rail reaches without a router: an InfiniBand subnet by its prefix,
 * as in UCX and the IBTA specification, else an IP network. "" if it is not known. */
static void rail_network(const struct envplan_view *view, const struct rail *rail, char *text,
                         size_t size)
{
    if (rail->class != FABRIC_INFINIBAND)
        ip_network(addressed_nic(view, rail), text, size);
    else if (rail->port != NULL && rail->port->gid_count > 0)
        snprintf(text, size, "%.19s", rail->port->gids[0].gid);
    else
        text[0] = '\0';
}

/* Returns whether all rails that are up are in one network; if not, why says so. A rank with only
 * one rail must reach ranks with another rail. Between networks this needs routes from each rail
 * to the others. The node's routing tables may not show them, as a route can be chosen by source
 * address. For UCX see UCX_IB_ROCE_REACHABILITY_MODE and openucx/ucx issue 5598. */
static bool rails_share_network(const struct envplan_view *view, char *why, size_t why_size)
{
    const struct fabric *fabric = &view->node->fabric;
    char first[INVENTORY_NAME], other[INVENTORY_NAME];
    const struct rail *first_rail = NULL;

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];

        if (!rail_is_up(rail) || fabric->class == FABRIC_GAUDI)
            continue;
        rail_network(view, rail, first_rail == NULL ? first : other, INVENTORY_NAME);
        if (first_rail == NULL) {
            first_rail = rail;
        } else if (strcmp(first, other) != 0 || (*first == '\0' && rail->class <= FABRIC_ROCE_V2)) {
            snprintf(why, why_size,
                     "all rails, because %s is in %s and %s in %s (RailsAreRouted=no)",
                     first_rail->name, *first != '\0' ? first : "no IP network", rail->name,
                     *other != '\0' ? other : "no IP network");
            return false;
        }
    }
    return true;
}

/* Sets rails to the rails of the socket that a task is bound to. Only for a task without GPUs, as
 * one with GPUs gets the rails nearest to these. Returns the number of rails; 0 if the task is not
 * bound to one socket, or if all or none of the rails that are up belong to the socket. */
static size_t socket_rails(const struct envplan_view *view, size_t *rails)
{
    const struct envplan_task *task = view->task;
    const struct fabric *fabric = &view->node->fabric;
    bool has_no_gpu =
        view->node->inventory->gpu_count == 0 ||
        (view->visible != NULL && view->visible->is_known && view->visible->count == 0);
    size_t count = 0, up = 0;

    if (task->launcher != ENVPLAN_RANK || !view->node->conf->nearest_rails || !has_no_gpu)
        return 0;
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        int node = rail->port != NULL  ? rail->port->location.numa_node
                   : rail->nic != NULL ? rail->nic->location.numa_node
                                       : -1;

        if (!rail_is_up(rail))
            continue;
        up++;
        if (node >= 0 && node < 64 && (task->numa_nodes >> node & 1) != 0)
            rails[count++] = i;
    }
    return count < up ? count : 0;
}

/* Formats "NUMA node 1", "NUMA nodes 2 3". */
static void print_numa_nodes(unsigned long long nodes, char *text, size_t size)
{
    bool is_one = (nodes & (nodes - 1)) == 0;

    snprintf(text, size, "NUMA node%s", is_one ? "" : "s");
    for (int node = 0; node < 64; node++)
        if ((nodes >> node & 1) != 0)
            text_join(text, size, " ", "%d", node);
}

size_t envplan_task_rails(const struct envplan_view *view, size_t *rails, bool *is_nearest,
                          char *why, size_t why_size)
{
    const size_t *gpus = NULL;
    char source[256], names[160];
    size_t count = 0, gpu_count = task_gpus(view, &gpus, source, sizeof source);

    *is_nearest = false;
    snprintf(why, why_size, "%s", source);
    if (gpu_count == 0) {
        count = socket_rails(view, rails);
        if (count == 0 ||
            (!view->node->conf->routed_rails && !rails_share_network(view, why, why_size)))
            return envplan_up_rails(view, rails);
        print_numa_nodes(view->task->numa_nodes, names, sizeof names);
        snprintf(why, why_size, "of the socket that the task is bound to (%s)", names);
        *is_nearest = true;
        return count;
    }
    count = affinity_rails(&view->node->affinity, gpus, gpu_count, rails);
    if (count == 0) {
        snprintf(why, why_size,
                 "all rails, because no PCI path or NUMA node shows which are nearest; %s", source);
        return envplan_up_rails(view, rails);
    }
    if (!view->node->conf->routed_rails && !rails_share_network(view, why, why_size))
        return envplan_up_rails(view, rails);
    print_gpus(view, gpus, gpu_count, names, sizeof names);
    snprintf(why, why_size, "nearest to %s; %s", names, source);
    *is_nearest = true;
    return count;
}

size_t envplan_sockets(const struct envplan_view *view, const size_t *rails, size_t rail_count,
                       const struct nic **nics, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < rail_count && count < max; i++) {
        const struct nic *nic = view->node->fabric.rails[rails[i]].nic;
        bool is_double = nic == NULL;

        for (size_t j = 0; j < count; j++)
            is_double = is_double || nics[j] == nic;
        if (!is_double && nic_has_sockets(nic))
            nics[count++] = nic;
    }
    return count;
}

void envplan_rails_fact(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct fabric *fabric = &view->node->fabric;
    char up[128] = "", down[96] = "";

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        char *text = rail_is_up(rail) ? up : down;
        size_t size = rail_is_up(rail) ? sizeof up : sizeof down;

        if (envplan_join(text, size - 4, " ", rail->name) < 0 &&
            strcmp(text + strlen(text) - 3, "...") != 0)
            envplan_join(text, size, "", "...");
    }
    envplan_fact(variable, "%s%s%s%s%s%s%s", up, *up ? " up" : "", *up && *down ? ", " : "", down,
                 *down ? " down" : "", *up || *down ? ", " : "", fabric_class_name(fabric->class));
    if (fabric->management != NULL)
        envplan_fact_add(variable, "management is %s", fabric->management->name);
    if (*fabric->left_out != '\0')
        envplan_fact_add(variable, "left out: %s", fabric->left_out);
    if (view->node->islands.is_crossing)
        envplan_fact_add(variable, "%s", view->node->islands.fact);
}
