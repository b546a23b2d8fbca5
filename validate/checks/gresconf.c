/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/gres.h"

#include <string.h>

int gres_conf_read(const struct checks *checks, struct gres_conf *conf, struct error *err)
{
    int result;

    memset(conf, 0, sizeof *conf);
    if (slurm_directory(checks->root, conf->directory, sizeof conf->directory, err) < 0)
        return 1;
    result = slurm_lines_read(checks->root, conf->directory, "slurm.conf", &conf->slurm, err);
    if (result != 0)
        return result;
    slurm_node_find(&conf->slurm, checks->node, &conf->node);
    if (slurm_lines_read(checks->root, conf->directory, "gres.conf", &conf->gres, err) < 0)
        return -1;
    gres_auto_detect(&conf->gres, checks->node, conf->auto_detect, sizeof conf->auto_detect);
    return 0;
}

void gres_conf_clear(struct gres_conf *conf)
{
    slurm_lines_clear(&conf->slurm);
    slurm_lines_clear(&conf->gres);
}

bool gres_has_partitions(const struct checks *checks, const struct gres_conf *conf)
{
    const struct inventory *inventory = checks->inventory;

    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (inventory->gpus[i].is_partitioned)
            return true;
    return slurm_gres_has_mig(conf->node.gres);
}

long gres_gpu_count(const struct checks *checks, bool *has_partitions)
{
    struct gres_conf conf;
    long count = -1;

    if (gres_conf_read(checks, &conf, NULL) == 0 && conf.node.is_found) {
        count = slurm_gres_count(conf.node.gres, "gpu");
        if (has_partitions)
            *has_partitions = gres_has_partitions(checks, &conf);
    }
    gres_conf_clear(&conf);
    return count;
}
