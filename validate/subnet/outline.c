/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/outline.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "validate/subnet/findings/findings.h"

void outline_clear(struct outline *outline)
{
    if (!outline)
        return;
    for (size_t i = 0; i < outline->count; i++) {
        hostlist_clear(&outline->items[i].members);
        hostlist_clear(&outline->items[i].kept);
    }
    free(outline->items);
    *outline = (struct outline){0};
}

struct draft {
    const struct subnet *subnet;
    const struct topology_conf *conf;
    struct subnet_groups groups;
    struct outline *outline;
    int *root;    /* [device]: union-find parent among the joined devices */
    int *item_of; /* [group]: its leaf in the outline, -1: left out */
    int *top;     /* [item]: the item above it, or itself */
};

static int find_root(int *root, int i)
{
    while (root[i] != i)
        i = root[i] = root[root[i]];
    return i;
}

static struct outline_switch *add_item(struct draft *draft)
{
    struct outline *outline = draft->outline;

    if (!GROW(outline->items, outline->count) || !GROW(draft->top, outline->count))
        return NULL;
    draft->top[outline->count] = (int)outline->count;
    outline->items[outline->count] = (struct outline_switch){0};
    return &outline->items[outline->count++];
}

static bool is_used(const struct outline *outline, const char *name)
{
    for (size_t i = 0; i < outline->count; i++)
        if (strcmp(outline->items[i].name, name) == 0)
            return true;
    return false;
}

/* Names the item: wish with the characters that Slurm allows, and a number if it is already used.
 */
static void name_item(const struct outline *outline, struct outline_switch *item, const char *wish)
{
    char name[48];
    size_t length = 0;

    for (; *wish && length < sizeof name - 1; wish++)
        name[length++] = isalnum((unsigned char)*wish) || strchr("._-", *wish) ? *wish : '-';
    name[length] = '\0';
    if (length > 0 && !is_used(outline, name)) {
        snprintf(item->name, sizeof item->name, "%s", name);
        return;
    }
    for (int i = 1;; i++) {
        char numbered[64];

        snprintf(numbered, sizeof numbered, "%s%s%d", length ? name : "switch", length ? "-" : "",
                 i);
        if (is_used(outline, numbered))
            continue;
        snprintf(item->name, sizeof item->name, "%s", numbered);
        return;
    }
}

static void add_switch_name(const struct draft *draft, struct outline_switch *item, int device)
{
    text_join(item->switches, sizeof item->switches, ", ", "%s",
              subnet_device_text(draft->subnet, device).text);
}

/* Returns the leaf of topology.conf that has most of the nodes, or NULL. */
static const char *name_in_conf(const struct draft *draft, const struct hostlist *nodes)
{
    const struct topology_conf *conf = draft->conf;
    size_t best = 0, most = 0;

    for (size_t i = 0; conf && i < conf->count; i++) {
        size_t count = 0;

        for (size_t k = 0; k < nodes->count; k++)
            count += hostlist_contains(&conf->leaves[i].below, nodes->names[k]);
        if (count > most) {
            most = count;
            best = i;
        }
    }
    return 2 * most > nodes->count ? conf->leaves[best].name : NULL;
}

static int add_leaf(struct draft *draft, size_t which)
{
    const struct subnet *subnet = draft->subnet;
    const struct subnet_group *group = &draft->groups.groups[which];
    struct hostlist nodes = {0};
    struct outline_switch *item;
    const char *name = NULL;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < subnet->nodes.count; i++) {
        const char *node = subnet->nodes.names[i];

        /* an adapter's description may be anything, also what slurmctld does not start with */
        if (draft->groups.group_of[i] == (int)which &&
            (draft->conf ? topology_conf_leaf(draft->conf, node) >= 0
                         : text_is_name(node, "._-", SIZE_MAX)))
            rv = hostlist_append(&nodes, node);
    }
    draft->item_of[which] = -1;
    if (rv != 0 || nodes.count == 0) {
        hostlist_clear(&nodes);
        return rv;
    }
    item = add_item(draft);
    if (!item) {
        hostlist_clear(&nodes);
        return -1;
    }
    draft->item_of[which] = (int)draft->outline->count - 1;
    item->members = nodes;
    item->is_leaf = true;
    for (size_t i = 0; i < subnet->rails.count; i++) {
        int leaf = group->leaves[i];
        bool is_new = leaf >= 0;

        for (size_t k = 0; k < i; k++)
            is_new = is_new && group->leaves[k] != leaf;
        if (!is_new)
            continue;
        name = name ? name : subnet->devices[leaf].name;
        add_switch_name(draft, item, leaf);
    }
    if (name_in_conf(draft, &item->members) &&
        !is_used(draft->outline, name_in_conf(draft, &item->members)))
        name = name_in_conf(draft, &item->members);
    name_item(draft->outline, item, name && *name ? name : "leaf");
    return 0;
}

/* Joins switches that a cable connects, up to the level. */
static void join_level(struct draft *draft, int level)
{
    const struct subnet *subnet = draft->subnet;

    for (size_t i = 0; i < subnet->port_count; i++) {
        int a = subnet->ports[i].device, b = subnet->ports[i].peer;

        if (b < 0)
            continue;
        b = subnet->ports[b].device;
        if (subnet->devices[a].kind == SUBNET_SWITCH && subnet->devices[b].kind == SUBNET_SWITCH &&
            subnet->devices[a].level <= level && subnet->devices[b].level <= level)
            draft->root[find_root(draft->root, a)] = find_root(draft->root, b);
    }
}

static int find_top(const struct draft *draft, int item)
{
    while (draft->top[item] != item)
        item = draft->top[item];
    return item;
}

/* Names the item that joins others: as its only switch of the level, else "spine" or "core". */
static void name_upper(struct draft *draft, struct outline_switch *item, int level, int root)
{
    const struct subnet *subnet = draft->subnet;
    int only = -1, count = 0;

    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_SWITCH && subnet->devices[i].level == level &&
            find_root(draft->root, (int)i) == root) {
            only = (int)i;
            count++;
            add_switch_name(draft, item, only);
        }
    name_item(draft->outline, item,
              count == 1 && subnet->devices[only].name[0] ? subnet->devices[only].name
              : level == 1                                ? "spine"
                                                          : "core");
}

/* Adds an item above those that this level joins for the first time. owner: room for every device.
 */
static int add_upper_items(struct draft *draft, int level, int *owner)
{
    size_t groups = draft->groups.count, rails = draft->subnet->rails.count;

    for (size_t i = 0; i < draft->subnet->device_count; i++)
        owner[i] = -1;
    for (size_t i = 0; i < groups * rails; i++) {
        int group = (int)(i / rails), leaf = draft->groups.groups[group].leaves[i % rails], root;
        int item = draft->item_of[group], first, own;

        if (item < 0 || leaf < 0)
            continue;
        root = find_root(draft->root, leaf);
        own = find_top(draft, item);
        first = owner[root] < 0 ? own : find_top(draft, owner[root]);
        owner[root] = first;
        if (first == own)
            continue;
        /* an item of this level takes in the other; else the two get a new item above them */
        if (draft->outline->items[first].is_leaf || first < (int)draft->item_of[groups]) {
            struct outline_switch *upper = add_item(draft);
            int index = (int)draft->outline->count - 1;

            if (!upper || hostlist_append(&upper->members, draft->outline->items[first].name) != 0)
                return -1;
            name_upper(draft, upper, level, root);
            draft->top[first] = index;
            owner[root] = first = index;
        }
        if (hostlist_append(&draft->outline->items[first].members,
                            draft->outline->items[own].name) != 0)
            return -1;
        draft->top[own] = first;
    }
    return 0;
}

/* Returns the leaf item that has the most of the nodes, or -1. */
static int find_leaf(const struct outline *outline, const struct hostlist *nodes)
{
    size_t most = 0;
    int best = -1;

    for (size_t i = 0; i < outline->count; i++) {
        const struct outline_switch *item = &outline->items[i];
        size_t count = 0;

        for (size_t k = 0; item->is_leaf && k < nodes->count; k++)
            count += hostlist_contains(&item->members, nodes->names[k]);
        if (count > most) {
            most = count;
            best = (int)i;
        }
    }
    return best;
}

/* Adds a leaf of conf that has no node with a cable, below the item that joins all others, if there
 * is one. Returns its index, or -1 if memory is out. */
static int add_conf_leaf(struct draft *draft, const struct topology_switch *leaf)
{
    struct outline *outline = draft->outline;
    struct outline_switch *item;
    int above = -1, count = 0;

    for (size_t i = 0; i < outline->count; i++)
        if (draft->top[i] == (int)i && !outline->items[i].is_leaf) {
            above = (int)i;
            count++;
        }
    item = add_item(draft);
    if (!item)
        return -1;
    item->is_leaf = true;
    name_item(outline, item, leaf->name);
    if (count == 1 && hostlist_append(&outline->items[above].members, item->name) != 0)
        return -1;
    return (int)outline->count - 1;
}

/* Adds the nodes of conf that have no cable. */
static int add_conf_nodes(struct draft *draft)
{
    const struct topology_conf *conf = draft->conf;
    int rv = 0;

    for (size_t i = 0; conf && rv == 0 && i < conf->count; i++) {
        const struct hostlist *nodes = &conf->leaves[i].below;
        int leaf = -1;

        for (size_t k = 0; rv == 0 && k < nodes->count; k++) {
            int node = subnet_node(draft->subnet, nodes->names[k]);

            if ((node >= 0 && draft->groups.group_of[node] >= 0) ||
                topology_conf_leaf(conf, nodes->names[k]) != (int)i)
                continue;
            if (leaf < 0 && (leaf = find_leaf(draft->outline, nodes)) < 0)
                leaf = add_conf_leaf(draft, &conf->leaves[i]);
            if (leaf < 0 ||
                hostlist_append(&draft->outline->items[leaf].members, nodes->names[k]) != 0 ||
                hostlist_append(&draft->outline->items[leaf].kept, nodes->names[k]) != 0)
                rv = -1;
        }
    }
    return rv;
}

int subnet_outline(const struct subnet *subnet, const struct topology_conf *conf,
                   struct outline *outline)
{
    struct draft draft = {.subnet = subnet, .conf = conf, .outline = outline};
    int *owner = calloc(subnet->device_count + 1, sizeof *owner), rv;

    *outline = (struct outline){0};
    rv = subnet_groups_make(subnet, NULL, &draft.groups);
    draft.root = calloc(subnet->device_count + 1, sizeof *draft.root);
    draft.item_of = calloc(draft.groups.count + 1, sizeof *draft.item_of);
    if (!owner || !draft.root || !draft.item_of)
        rv = -1;
    for (size_t i = 0; rv == 0 && i < subnet->device_count; i++)
        draft.root[i] = (int)i;
    for (size_t i = 0; rv == 0 && i < draft.groups.count; i++)
        rv = add_leaf(&draft, i);
    for (int level = 0; rv == 0 && level < subnet->level_count; level++) {
        /* after the last group: the index of the first item of this level */
        draft.item_of[draft.groups.count] = (int)outline->count;
        join_level(&draft, level);
        rv = add_upper_items(&draft, level, owner);
    }
    if (rv == 0 && outline->count > 0)
        rv = add_conf_nodes(&draft);
    subnet_groups_clear(&draft.groups);
    free(draft.root);
    free(draft.item_of);
    free(draft.top);
    free(owner);
    if (rv != 0)
        outline_clear(outline);
    return rv;
}

int outline_write(FILE *stream, const struct subnet *subnet, const struct outline *outline,
                  bool as_yaml)
{
    char when[32];

    text_time(when, sizeof when, "%Y-%m-%d %H:%M UTC", time(NULL));
    fprintf(stream,
            "# topology.%s for topology/tree, as found by muster topology --fabric in %s\n"
            "# on %s\n%s",
            as_yaml ? "yaml" : "conf", subnet->source, when,
            as_yaml ? "---\n- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n"
                    : "");
    for (size_t i = 0; i < outline->count; i++) {
        const struct outline_switch *item = &outline->items[i];
        const char *indent = as_yaml ? "      " : "";
        char *members = hostlist_fold_for_slurm(&item->members);
        char *kept = hostlist_fold(&item->kept);

        if (!members || !kept) {
            free(members);
            free(kept);
            return -1;
        }
        if (*item->switches)
            fprintf(stream, "%s# %s\n", indent, item->switches);
        if (*kept)
            fprintf(stream, "%s# as in topology.conf, not in the network: %s\n", indent, kept);
        if (as_yaml)
            fprintf(stream, "      - switch: %s\n        %s: %s\n", item->name,
                    item->is_leaf ? "nodes" : "children", members);
        else
            fprintf(stream, "SwitchName=%s %s=%s\n", item->name,
                    item->is_leaf ? "Nodes" : "Switches", members);
        free(members);
        free(kept);
    }
    return 0;
}
