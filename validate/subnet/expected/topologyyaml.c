/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/expected/topologyconf.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_YAML

#include <yaml.h>

/* topology.yaml(5): a list of topologies, each
 *
 *     - topology: fabric
 *       cluster_default: true
 *       tree:
 *         switches:
 *           - switch: spine
 *             children: leaf[1-2]
 *           - switch: leaf1
 *             nodes: n[1-8]
 *
 * or with block: and blocks:, each block: and nodes:; or flat:. */

static int line_of(const yaml_node_t *node)
{
    return (int)node->start_mark.line + 1;
}

/* Returns the value of a key of a mapping, or NULL. */
static yaml_node_t *value_of(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(document, pair->key);

        if (name && name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

/* Returns the scalar value of a key, or NULL. */
static const char *scalar_text(yaml_document_t *document, const yaml_node_t *mapping,
                               const char *key)
{
    const yaml_node_t *value = value_of(document, mapping, key);

    return value && value->type == YAML_SCALAR_NODE ? (const char *)value->data.scalar.value : NULL;
}

/* Returns item i of a sequence; NULL after its end, or if it is no sequence. */
static yaml_node_t *item_of(yaml_document_t *document, const yaml_node_t *sequence, size_t i)
{
    if (!sequence || sequence->type != YAML_SEQUENCE_NODE ||
        i >= (size_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start))
        return NULL;
    return yaml_document_get_node(document, sequence->data.sequence.items.start[i]);
}

static int read_item(yaml_document_t *document, const yaml_node_t *item, const char *kind,
                     struct topology_conf *conf, struct error *err)
{
    const char *name = scalar_text(document, item, kind),
               *nodes = scalar_text(document, item, "nodes"),
               *children = scalar_text(document, item, "children");
    struct topology_place at = {NULL, line_of(item)};

    if (!name)
        return error_set(err, "expected %s: NAME", kind);
    if (nodes && children)
        return error_set(err, "%s has both nodes: and children:, which slurmctld refuses", name);
    if (nodes || children)
        return topology_conf_add(conf, nodes, name, at, nodes ? nodes : children, err);
    return error_set(err, "%s has neither nodes: nor children:", name);
}

/* Returns the list of switches or blocks of a topology, or NULL. *kind: "switch" or "block". */
static yaml_node_t *list_of(yaml_document_t *document, const yaml_node_t *topology,
                            const char **kind)
{
    yaml_node_t *tree = value_of(document, topology, "tree"),
                *block = value_of(document, topology, "block");

    *kind = tree ? "switch" : "block";
    return tree ? value_of(document, tree, "switches") : value_of(document, block, "blocks");
}

/* Returns the topology to use (topology_conf_read_yaml()), or NULL. */
static yaml_node_t *choose(yaml_document_t *document, const yaml_node_t *root)
{
    yaml_node_t *first = NULL, *topology;
    const char *kind;

    for (size_t i = 0; (topology = item_of(document, root, i)); i++) {
        const char *is_default = scalar_text(document, topology, "cluster_default");

        if (!list_of(document, topology, &kind))
            continue;
        if (is_default && strcasecmp(is_default, "true") == 0)
            return topology;
        first = first ? first : topology;
    }
    return first;
}

static int read_document(yaml_document_t *document, const char *path, struct topology_conf *conf,
                         struct error *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(document), *topology, *list, *item;
    const char *kind;

    if (!root || root->type != YAML_SEQUENCE_NODE)
        return error_set(err, "%s:%d: expected a list of topologies", path,
                         root ? line_of(root) : 1);
    topology = choose(document, root);
    if (!topology)
        return error_set(err, "%s: no topology in it has tree: switches: or block: blocks:", path);
    list = list_of(document, topology, &kind);
    for (size_t i = 0; (item = item_of(document, list, i)); i++)
        if (read_item(document, item, kind, conf, err) != 0)
            return error_prefix(err, "%s:%d", path, line_of(item));
    if (conf->count == 0)
        return error_set(err, "%s:%d: none of its %s items has nodes:", path, line_of(topology),
                         kind);
    return 0;
}

int topology_conf_read_yaml(const char *path, struct topology_conf *conf, struct error *err)
{
    FILE *file = fopen(path, "re");
    yaml_parser_t parser;
    yaml_document_t document;
    int rv;

    if (!file)
        return error_set(err, "%s: %m", path);
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        return error_set(err, "no memory");
    }
    yaml_parser_set_input_file(&parser, file);
    if (yaml_parser_load(&parser, &document)) {
        rv = read_document(&document, path, conf, err);
        yaml_document_delete(&document);
    } else {
        rv = error_set(err, "%s:%zu: not YAML: %s", path, parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "cannot read it");
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return rv;
}

#else

int topology_conf_read_yaml(const char *path, struct topology_conf *conf, struct error *err)
{
    (void)conf;
    return error_set(err,
                     "%s: this muster was built without libyaml (Debian: libyaml-dev); give it a "
                     "topology.conf, as scontrol show topology prints it",
                     path);
}

#endif
