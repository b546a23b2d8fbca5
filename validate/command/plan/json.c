/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/plan/plan.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "validate/command/jsontext.h"

/* JSON has no infinity: null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *figures_of(const struct plan_figures *figures)
{
    json_t *list = json_array();

    for (int i = 0; i < FIGURE_COUNT; i++) {
        const struct plan_figure *figure = &figures->figures[i];

        if (!isnan(figure->value))
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:s, s:o}", "figure", figure->name, "value",
                                            number(figure->value), "unit", figure->unit, "source",
                                            jsontext(figure->source)));
    }
    return list;
}

static json_t *stages_of(const struct plan *plan)
{
    const struct plan_layout *layout = &plan->layout;
    json_t *list = json_array();

    for (int i = 0; i < layout->stages; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:i, s:I}", "island",
                            jsontext(layout->is_across
                                         ? "all"
                                         : plan->figures.cluster.islands[layout->islands[i]].name),
                            "layers", layout->layers[i], "nodes", (json_int_t)layout->stage_nodes));
    return list;
}

void plan_print_json(const struct plan *plan)
{
    const struct plan_layout *layout = &plan->layout;
    const struct plan_failures *failures = &layout->failures;
    json_t *lines = json_array(), *object;
    char *line, *rest;

    for (line = strtok_r(plan->sbatch, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        json_array_append_new(lines, jsontext(line));
    object = json_pack("{s:o, s:o, s:o, s:I, s:i, s:i, s:s, s:i, s:b, s:o, s:i}", "parameters",
                       number(plan->job.parameters), "steps", number(plan->job.steps), "figures",
                       figures_of(&plan->figures), "nodes", (json_int_t)layout->nodes, "spares",
                       failures->spares, "devices", layout->devices, "layout",
                       plan_layout_text(plan).text, "zero", layout->zero, "recomputes",
                       layout->recomputes, "stages", stages_of(plan), "microbatches",
                       layout->microbatches);
    json_object_update_new(
        object, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "step_s",
                          number(layout->step_s), "compute_s", number(layout->compute_s), "sums_s",
                          number(layout->sums_s), "update_s", number(layout->update_s),
                          "tokens_per_s", number(layout->tokens_per_s), "memory_bytes",
                          number(layout->memory_bytes), "mttf_s", number(failures->mttf_s),
                          "checkpoint_s", number(failures->checkpoint_s), "interval_s",
                          number(failures->interval_s), "goodput", number(failures->goodput),
                          "finish_s", number(layout->finish_s), "sbatch", lines));
    jsontext_print(stdout, JSON_COMPACT, object);
}
