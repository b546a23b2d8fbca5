/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/fabric.h"
#include "lib/base/deferred_error.h"
#include "lib/base/sysfs.h"
#include "lib/fabric/affinity.h"
#include "lib/fabric/rails.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

static const struct nic *find_management(const struct inventory *inventory, const struct conf *conf)
{
    const struct nic *best = NULL;

    if (conf && conf->management_interface[0])
        return inventory_nic(inventory, conf->management_interface);
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];

        if (nic->has_default_route &&
            (!best || nic->default_route_metric < best->default_route_metric))
            best = nic;
    }
    return best;
}

/* Returns whether the rail is the management interface, a member of its bond or bridge, or an
 * interface further below it (below its VLAN, say) without an address of its own. An RDMA port
 * counts by its interface. */
static bool is_management(const struct inventory *inventory, const struct fabric *fabric,
                          const struct rail *rail)
{
    return fabric->management && rail->nic &&
           (rail->nic == fabric->management ||
            strcmp(rail->nic->master, fabric->management->name) == 0 ||
            (rail->nic->address_count == 0 &&
             nic_is_above(inventory, fabric->management, rail->nic)));
}

static bool is_named(const struct hostlist *names, const struct rail *rail)
{
    return hostlist_contains(names, rail->name) ||
           (rail->nic && hostlist_contains(names, rail->nic->name)) ||
           (rail->port && hostlist_contains(names, rail->port->device));
}

/* Returns the best class of the rails that are up; of all rails if none is up. */
static enum fabric_class best_class(const struct rail *rails, size_t count)
{
    enum fabric_class up = FABRIC_NONE, any = FABRIC_NONE;

    for (size_t i = 0; i < count; i++) {
        if (rail_is_up(&rails[i]) && rails[i].class > up)
            up = rails[i].class;
        if (rails[i].class > any)
            any = rails[i].class;
    }
    return up ? up : any;
}

/* Moves the rails for which keep() is true to the front. Returns their number. */
static size_t filter(struct rail *rails, size_t count,
                     bool (*keep)(const struct rail *, const void *), const void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (keep(&rails[i], context))
            rails[kept++] = rails[i];
    return kept;
}

static bool keep_named(const struct rail *rail, const void *names)
{
    return is_named(names, rail);
}

/* The inputs of the choice. */
struct chooser {
    const struct inventory *inventory;
    const struct conf *conf; /* may be NULL */
    struct fabric *fabric;
};

/* Returns whether the rail may carry a job's data if the configuration names no interfaces.
 * Ethernet over USB may not: BMCs and installers leave it behind. */
static bool keep_candidate(const struct rail *rail, const void *context)
{
    const struct chooser *chooser = context;

    if (is_management(chooser->inventory, chooser->fabric, rail))
        return false;
    return rail->port || (rail->nic->is_physical && strcmp(rail->nic->bus, "usb") != 0);
}

/* A RoCE or iWARP port that is down and has no address does not count: it may be unused. */
static bool keep_rdma_candidate(const struct rail *rail, const void *chooser)
{
    return rail->class > FABRIC_ETHERNET && !rail_is_virtual(rail) &&
           keep_candidate(rail, chooser) &&
           (rail_is_up(rail) || rail->class > FABRIC_ROCE_V2 ||
            (rail->nic && rail->nic->address_count > 0));
}

static bool keep_all(const struct rail *rail, const void *unused)
{
    (void)rail;
    (void)unused;
    return true;
}

static bool keep_class(const struct rail *rail, const void *class)
{
    return rail->class == *(const enum fabric_class *)class;
}

static bool keep_physical_function(const struct rail *rail, const void *unused)
{
    (void)unused;
    return !rail_is_virtual(rail);
}

static bool keep_driver(const struct rail *rail, const void *driver)
{
    return strcmp(rail->nic->driver, driver) == 0;
}

/* Keeps the rails with the driver of the fastest one, preferably one that is up. Nothing marks a
 * plain Ethernet NIC as part of the fabric, and the board may have unused ports. */
static size_t keep_fastest_kind(struct rail *rails, size_t count)
{
    const struct rail *fastest = NULL;
    char driver[INVENTORY_NAME];

    for (size_t i = 0; i < count; i++)
        if (!fastest || (rail_is_up(&rails[i]) > rail_is_up(fastest)) ||
            (rail_is_up(&rails[i]) == rail_is_up(fastest) &&
             rails[i].nominal_mbps > fastest->nominal_mbps))
            fastest = &rails[i];
    if (!fastest)
        return 0;
    strcpy(driver, fastest->nic->driver);
    return filter(rails, count, keep_driver, driver);
}

/* Adds a rail to left_out. is_first: the rail begins a new group, after a comma; the reason
 * follows the last rail of a group. */
static void left_out_add(struct fabric *fabric, const char *name, bool is_first)
{
    size_t size = sizeof fabric->left_out, length = strlen(fabric->left_out);

    if (length + strlen(name) + 40 > size) /* room for a reason */
        name = length >= 3 && strcmp(fabric->left_out + length - 3, "...") == 0 ? "" : "...";
    if (*name)
        text_join(fabric->left_out, size, is_first ? ", " : " ", "%s", name);
}

static void left_out_why(struct fabric *fabric, const char *why)
{
    text_join(fabric->left_out, sizeof fabric->left_out, " ", "%s", why);
}

static void note_unused(struct fabric *fabric)
{
    for (size_t i = 0; i < fabric->unused_count; i++)
        left_out_add(fabric, fabric->unused[i].name, i == 0);
    if (fabric->unused_count > 0)
        left_out_why(fabric, "down and not set up");
}

/* Returns whether there is no host bridge between rail and GPU. */
static bool is_beside(const struct rail *rail, const struct gpu *gpu)
{
    return affinity_between(rail_location(rail), &gpu->location) <= AFFINITY_PXB;
}

static bool is_beside_gpu(const struct inventory *inventory, const struct rail *rail)
{
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (is_beside(rail, &inventory->gpus[i]))
            return true;
    return false;
}

/* Returns whether the GPUs have NICs beside them. Then the few other ports of the same class belong
 * to the storage network, as on NVIDIA's DGX machines (DGX H100 User Guide, "Network Connections,
 * Cables, and Adaptors"). A NIC or GPU may be missing: it is enough that three GPUs of four have
 * one, and that more ports are beside GPUs than elsewhere. */
static bool have_own_rails(const struct inventory *inventory, const struct rail *rails,
                           size_t count, bool (*is_counted)(const struct rail *, const void *),
                           const void *context)
{
    size_t served = 0, beside = 0, counted = 0;

    for (size_t i = 0; i < inventory->gpu_count; i++)
        for (size_t j = 0; j < count; j++)
            if (is_counted(&rails[j], context) && is_beside(&rails[j], &inventory->gpus[i])) {
                served++;
                break;
            }
    for (size_t i = 0; i < count; i++) {
        counted += is_counted(&rails[i], context);
        beside += is_counted(&rails[i], context) && is_beside_gpu(inventory, &rails[i]);
    }
    return served > 0 && 4 * served >= 3 * inventory->gpu_count && 2 * beside > counted;
}

/* Returns the class to choose: the best class of the candidates that are up or belong up, else of
 * all candidates. If GPUs have RDMA ports beside them, skips other ports that are no faster: they
 * belong to the storage network, whose class can be better. */
static enum fabric_class found_class(const struct chooser *chooser, const struct rail *rails,
                                     size_t count)
{
    const struct inventory *inventory = chooser->inventory;
    bool have_own = have_own_rails(inventory, rails, count, keep_rdma_candidate, chooser);
    enum fabric_class up = FABRIC_NONE, any = FABRIC_NONE;
    double own_mbps = -1;

    for (size_t i = 0; i < count; i++)
        if (keep_rdma_candidate(&rails[i], chooser) && is_beside_gpu(inventory, &rails[i]) &&
            rails[i].nominal_mbps > own_mbps)
            own_mbps = rails[i].nominal_mbps;
    for (size_t i = 0; i < count; i++) {
        const struct rail *rail = &rails[i];

        if (!keep_candidate(rail, chooser) ||
            (have_own && rail->nominal_mbps <= own_mbps && !is_beside_gpu(inventory, rail)))
            continue;
        if (rail->class > any)
            any = rail->class;
        if (rail->class > up &&
            (rail_is_up(rail) || rail_is_expected_up(chooser->conf, rails, count, rail)))
            up = rail->class;
    }
    return up ? up : any;
}

/* Chooses among the node's ports if the configuration names none. Returns the number of rails. */
static size_t choose_found(const struct chooser *chooser, struct rail *rails, size_t count)
{
    enum fabric_class class = found_class(chooser, rails, count);
    size_t physical_functions;

    count = filter(rails, count, keep_candidate, chooser);
    count = filter(rails, count, keep_class, &class);
    for (size_t i = physical_functions = 0; i < count; i++)
        physical_functions += !rail_is_virtual(&rails[i]);
    if (physical_functions > 0)
        count = filter(rails, count, keep_physical_function, NULL);
    if (class == FABRIC_ETHERNET)
        count = keep_fastest_kind(rails, count);
    count = rails_replace_by_uppers(chooser->inventory, chooser->conf, chooser->fabric->management,
                                    rails, count);
    return rails_exclude_unused(chooser->inventory, chooser->conf, rails, count, chooser->fabric);
}

static int compare_rails(const void *a, const void *b)
{
    return sysfs_compare(((const struct rail *)a)->name, ((const struct rail *)b)->name);
}

/* Formats the rails' names, "a b c"; ends with "..." if they do not fit. */
static void join_names(const struct fabric *fabric, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < fabric->rail_count; i++) {
        bool is_full = strlen(text) + strlen(fabric->rails[i].name) + 6 > size;

        text_join(text, size, " ", "%s", is_full ? "..." : fabric->rails[i].name);
        if (is_full)
            return;
    }
}

static void explain_management(struct fabric *fabric, const struct conf *conf)
{
    size_t size = sizeof fabric->reason;

    if (conf && conf->management_interface[0])
        text_join(fabric->reason, size, "; ", "management is %s (conf)%s",
                  conf->management_interface,
                  fabric->management ? "" : ", which is not on this node");
    else if (fabric->management)
        text_join(fabric->reason, size, "; ", "management is %s (default route)",
                  fabric->management->name);
    else
        text_join(fabric->reason, size, "; ", "no default route, so no management interface");
}

/* Removes rails of the storage network. Allocates nothing: the rails are part of a node's
 * fingerprint and must not depend on free memory. */
static void exclude_storage(const struct inventory *inventory, struct fabric *fabric)
{
    size_t kept = 0, count = fabric->rail_count;

    if (!have_own_rails(inventory, fabric->rails, count, keep_all, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!is_beside_gpu(inventory, &fabric->rails[i]))
            left_out_add(fabric, fabric->rails[i].name, i == kept);
        else if (i != kept)
            fabric->rails[kept++] = fabric->rails[i];
        else
            kept++;
    }
    fabric->rail_count = kept;
    if (kept < count)
        left_out_why(fabric, "beside no GPU");
}

enum rule { RULE_NAMED, RULE_FOUND, RULE_ISLAND, RULE_BETWEEN, RULE_ONLY };

static void explain(const struct inventory *inventory, const struct conf *conf, enum rule rule,
                    struct fabric *fabric)
{
    const char *class = fabric_class_name(fabric->class);
    char names[96], *text = fabric->reason;
    size_t size = sizeof fabric->reason;

    join_names(fabric, names, sizeof names);
    if (fabric->rail_count == 0 && (rule == RULE_NAMED || rule == RULE_BETWEEN))
        snprintf(text, size, "no interface in %s is on this node",
                 rule == RULE_NAMED ? "FabricInterfaces" : "IslandInterfaces");
    else if (fabric->rail_count == 0)
        snprintf(text, size, "no physical interface among %zu and no RDMA port",
                 inventory->nic_count);
    else if (rule == RULE_NAMED)
        snprintf(text, size, "%s: FabricInterfaces (conf)", names);
    else if (rule == RULE_BETWEEN)
        snprintf(text, size, "%s: between islands, by %s", names,
                 conf->island_interfaces.count > 0 ? "IslandInterfaces (conf)"
                                                   : "the management interface");
    else if (rule == RULE_ISLAND)
        snprintf(text, size, "%s: %s, the island's", names, class);
    else if (rule == RULE_ONLY)
        snprintf(text, size, "%s: also management, because the node has no other interface%s",
                 names, fabric->unused_count > 0 ? " in use" : "");
    else
        snprintf(text, size, "%s: %s, the best class found", names, class);
    explain_management(fabric, conf);
    if (*fabric->left_out)
        text_join(fabric->reason, sizeof fabric->reason, "; ", "left out: %.120s",
                  fabric->left_out);
}

/* Stores the chosen rails, sorted, and their best class. */
static void store_rails(struct rail *rails, size_t count, struct fabric *fabric)
{
    qsort(rails, count, sizeof *rails, compare_rails);
    fabric->rail_count = count < INVENTORY_NICS ? count : INVENTORY_NICS;
    memcpy(fabric->rails, rails, fabric->rail_count * sizeof *rails);
    fabric->class = best_class(fabric->rails, fabric->rail_count);
}

static bool keep_management(const struct rail *rail, const void *fabric)
{
    return rail->nic && rail->nic == ((const struct fabric *)fabric)->management;
}

static size_t count_class(const struct rail *rails, size_t count, enum fabric_class class)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += rails[i].class == class;
    return found;
}

/* Chooses the rails; the array rails is scratch space for RAILS_MAX. wanted: the island's class, or
 * FABRIC_NONE. */
static enum rule choose_rails(const struct inventory *inventory, const struct conf *conf,
                              enum fabric_class wanted, struct rail *rails, struct fabric *fabric)
{
    enum rule rule = RULE_FOUND;
    size_t count = wanted == FABRIC_ETHERNET ? rails_sockets(inventory, conf, rails)
                                             : rails_all(inventory, conf, rails);

    if (conf && conf->fabric_interfaces.count > 0) {
        rule = RULE_NAMED;
        count = filter(rails, count, keep_named, &conf->fabric_interfaces);
    }
    if (wanted != FABRIC_NONE && count_class(rails, count, wanted) > 0) {
        rule = RULE_ISLAND;
        count = filter(rails, count, keep_class, &wanted);
    }
    if (!conf || conf->fabric_interfaces.count == 0)
        count = choose_found(&(struct chooser){inventory, conf, fabric}, rails, count);
    note_unused(fabric);
    store_rails(rails, count, fabric);
    if (rule != RULE_NAMED && (!conf || conf->fabric_interfaces.count == 0))
        exclude_storage(inventory, fabric);
    if (rule != RULE_NAMED && fabric->rail_count == 0 && fabric->management) {
        rule = RULE_ONLY;
        count = rails_all(inventory, conf, rails);
        store_rails(rails, filter(rails, count, keep_management, fabric), fabric);
    }
    return rule;
}

void fabric_choose_for(const struct inventory *inventory, const struct conf *conf,
                       const struct islands *islands, struct fabric *fabric)
{
    enum rule rule = RULE_BETWEEN;
    struct rail *rails;

    memset(fabric, 0, sizeof *fabric);
    fabric->management = find_management(inventory, conf);
    rails = calloc(RAILS_MAX, sizeof *rails);
    if (!rails) {
        deferred_error_note();
        snprintf(fabric->reason, sizeof fabric->reason, "out of memory");
        return;
    }
    if (islands && islands->is_crossing) {
        size_t count = rails_sockets(inventory, conf, rails);

        if (conf->island_interfaces.count > 0)
            count = filter(rails, count, keep_named, &conf->island_interfaces);
        else
            count = filter(rails, count, keep_management, fabric);
        store_rails(rails, count, fabric);
    } else {
        rule =
            choose_rails(inventory, conf, islands ? islands->shared : FABRIC_NONE, rails, fabric);
    }
    free(rails);
    explain(inventory, conf, rule, fabric);
}

void fabric_choose(const struct inventory *inventory, const struct conf *conf,
                   struct fabric *fabric)
{
    fabric_choose_for(inventory, conf, NULL, fabric);
}

size_t fabric_exclude(struct fabric *fabric, const struct hostlist *names, const char *why)
{
    size_t kept = 0, count = fabric->rail_count, up = 0;

    for (size_t i = 0; i < count; i++)
        up += rail_is_up(&fabric->rails[i]) && !is_named(names, &fabric->rails[i]);
    if (up == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct rail rail = fabric->rails[i];

        if (is_named(names, &rail))
            left_out_add(fabric, rail.name, i == kept);
        else
            fabric->rails[kept++] = rail;
    }
    fabric->rail_count = kept;
    if (kept < count)
        left_out_why(fabric, why);
    fabric->class = best_class(fabric->rails, kept);
    return count - kept;
}
