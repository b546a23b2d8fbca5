/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <uct/api/uct.h>

#include "lib/base/stdout_flush.h"

/* Prints the transports of a memory domain; one that cannot be opened has none. */
static void domain_print(uct_component_h component, const char *domain)
{
    uct_tl_resource_desc_t *resources;
    uct_md_config_t *config;
    unsigned count;
    uct_md_h md;

    if (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)
        return;
    if (uct_md_open(component, domain, config, &md) == UCS_OK) {
        if (uct_md_query_tl_resources(md, &resources, &count) == UCS_OK) {
            for (unsigned i = 0; i < count; i++)
                printf("%s/%s\n", resources[i].tl_name, resources[i].dev_name);
            uct_release_tl_resource_list(resources);
        }
        uct_md_close(md);
    }
    uct_config_release(config);
}

static void component_print(uct_component_h component)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};

    if (uct_component_query(component, &attr) != UCS_OK || attr.md_resource_count == 0)
        return;
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = calloc(attr.md_resource_count, sizeof *attr.md_resources);
    if (attr.md_resources && uct_component_query(component, &attr) == UCS_OK)
        for (unsigned i = 0; i < attr.md_resource_count; i++)
            domain_print(component, attr.md_resources[i].md_name);
    free(attr.md_resources);
}

int resources_print(const char *program)
{
    uct_component_h *components;
    unsigned count;
    ucs_status_t status = uct_query_components(&components, &count);

    if (status != UCS_OK) {
        fprintf(stderr, "%s: UCX: %s\n", program, ucs_status_string(status));
        return 3;
    }
    for (unsigned i = 0; i < count; i++)
        component_print(components[i]);
    uct_release_component_list(components);
    return stdout_flush(program) == 0 ? 0 : 3;
}
