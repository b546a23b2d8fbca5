/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/plan/plan.h"

#include <math.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/report/table.h"

struct text_line plan_time_text(double seconds)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};
    size_t i = 0;

    if (isinf(seconds))
        return text_line("never");
    while (i + 1 < sizeof units / sizeof *units && seconds < (i < 3 ? 2 : 1) * units[i].seconds)
        i++;
    return text_line("%.3g %s", seconds / units[i].seconds, units[i].name);
}

struct text_line plan_layout_text(const struct plan *plan)
{
    const struct plan_layout *layout = &plan->layout;
    size_t devices = layout->stage_nodes * (size_t)layout->devices;
    char stages[64] = "", zero[32] = "";

    if (layout->nodes == 1 && layout->devices == 1)
        return text_line("one device%s", layout->recomputes ? ", activations computed again" : "");
    if (layout->stages > 1)
        snprintf(stages, sizeof stages, "a pipeline of %d stages, each ", layout->stages);
    if (layout->zero > 0)
        snprintf(zero, sizeof zero, ", ZeRO-%d", layout->zero);
    return text_line("%sdata parallel over %zu device%s%s%s%s", stages, devices,
                     text_plural(devices), layout->is_across ? " of all islands" : "", zero,
                     layout->recomputes ? ", activations computed again" : "");
}

static void print_figures(const struct plan_figures *figures)
{
    struct table table = {0};

    table_heading(&table, "FIGURE\tVALUE\tSOURCE");
    for (int i = 0; i < FIGURE_COUNT; i++) {
        const struct plan_figure *figure = &figures->figures[i];

        if (isnan(figure->value))
            continue;
        table_cells(&table, "%s\t%.4g%s%s\t%s", figure->name, figure->value,
                    figure->unit[0] == '1' ? "" : " ", figure->unit[0] == '1' ? "" : figure->unit,
                    figure->source);
    }
    table_end(&table, stdout, "");
}

static size_t usable(const struct plan_figures *figures)
{
    size_t nodes = 0;

    for (size_t i = 0; i < figures->count; i++)
        nodes += figures->nodes[i].verdict == VERDICT_PASS;
    return nodes;
}

static void print_stages(const struct plan *plan)
{
    const struct plan_layout *layout = &plan->layout;

    for (int i = 0; i < layout->stages && layout->stages > 1; i++)
        printf("  stage %d     %d layer%s on %zu node%s of island %s\n", i, layout->layers[i],
               text_plural((size_t)layout->layers[i]), layout->stage_nodes,
               text_plural(layout->stage_nodes),
               plan->figures.cluster.islands[layout->islands[i]].name);
}

void plan_print(const struct plan *plan)
{
    const struct plan_job *job = &plan->job;
    const struct plan_layout *layout = &plan->layout;
    const struct plan_failures *failures = &layout->failures;
    char *line, *rest;
    double steps;

    printf(
        "%.3g parameters: %d layers of %.0f; %.0f steps of %.0f sequences of %.0f tokens, %s\n\n",
        job->parameters, job->layers, job->width, job->steps, job->batch, job->context,
        job->is_fp32 ? "fp32" : "bf16");
    print_figures(&plan->figures);
    printf("\ncluster       %zu of %zu nodes in the history passed their newest run\n",
           usable(&plan->figures), plan->figures.count);
    printf("layout        %s\n", plan_layout_text(plan).text);
    print_stages(plan);
    printf("nodes         %zu", layout->nodes);
    if (failures->spares > 0)
        printf(" and %d spare%s", failures->spares, text_plural((size_t)failures->spares));
    printf(", %d device%s each, %.3g of %.3g GB of memory\n", layout->devices,
           text_plural((size_t)layout->devices), layout->memory_bytes / 1e9,
           plan->figures.cluster.memory_bytes / 1e9);
    printf("step          %s: %s of work, %s of sums, %s of update; %.4g tokens/s\n",
           plan_time_text(layout->step_s).text, plan_time_text(layout->compute_s).text,
           plan_time_text(layout->sums_s).text, plan_time_text(layout->update_s).text,
           layout->tokens_per_s);
    if (isinf(failures->mttf_s)) {
        printf("failures      none\n");
    } else {
        printf("failures      one each %s\n", plan_time_text(failures->mttf_s).text);
        steps = fmax(1, round(failures->interval_s / layout->step_s));
        printf("checkpoints   one each %s, %.0f step%s, in %s\n",
               plan_time_text(failures->interval_s).text, steps, text_plural((size_t)steps),
               plan_time_text(failures->checkpoint_s).text);
    }
    printf("goodput       %.1f %% of the time; %.1f %% without enough nodes\n",
           100 * failures->goodput, 100 * failures->waiting);
    printf("end           after %s, without failures and checkpoints %s\n\n",
           plan_time_text(layout->finish_s).text, plan_time_text(job->steps * layout->step_s).text);
    for (line = strtok_r(plan->sbatch, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        printf("#SBATCH %s\n", line);
    if (failures->spares > 0)
        printf("muster run --spares=%d -- srun COMMAND\n", failures->spares);
    else
        printf("srun COMMAND\n");
}
