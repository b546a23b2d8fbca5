/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/likelihood.h"

#include <math.h>
#include <string.h>

/* Streams that meet on a cable. */
enum { MEETING_MOST = 6 };
/* The least likelihood of a sample, over that of a healthy one: the model is not certain. */
static const double impossible = 1e-6;

unsigned long long passing_mask(const struct observations *observations, const struct part *part,
                                const struct run *run)
{
    unsigned long long mask = 0;

    for (unsigned i = run->begin; i < run->end && i - run->begin < 64; i++)
        mask |= (unsigned long long)part_passes(observations->network, part, run,
                                                &observations->items[i])
                << (i - run->begin);
    return mask;
}

/* What two leaves have between them at times is not told by samples that share it: they have more
 * or less of it as they meet on its cables. Of all that leave a leaf as many meet here as there. */
static bool is_untold(const struct observations *observations, const struct part *part,
                      const struct run *run)
{
    return part->type == DIAGNOSE_UPLINK && part->peer >= 0 &&
           observations->items[run->begin].shared > 1;
}

void passing_add(const struct observations *observations, const struct run *run,
                 const struct part *part, struct passing *passing)
{
    unsigned long long mask = passing_mask(observations, part, run);
    int at = passing->count;

    if (at == PASSING_MOST || mask == 0 || (part->duty > 0 && is_untold(observations, part, run)))
        return;
    passing->count++;
    passing->all |= mask;
    for (; at > 0 && passing->parts[at - 1]->depth < part->depth; at--) {
        passing->parts[at] = passing->parts[at - 1];
        passing->masks[at] = passing->masks[at - 1];
    }
    passing->parts[at] = part;
    passing->masks[at] = mask;
}

/* The likelihood of a sample, over that of a healthy one, if the part is there, at each of the
 * depths. Of streams that may meet on a cable, as many others are there as chance has it (Poisson).
 */
static void ratios_of(const float *row, const struct part *part, const struct part_share *share,
                      struct depths depths, float *ratios)
{
    double left = 1, weight = exp(-share->others);
    int first = depths.first, last = depths.last;

    if (part->sharing == PART_APART) {
        memcpy(ratios + first, row + first, (size_t)(last - first + 1) * sizeof *ratios);
        return;
    }
    memset(ratios + first, 0, (size_t)(last - first + 1) * sizeof *ratios);
    for (int meeting = 1; meeting <= MEETING_MOST && left > 0; meeting++) {
        bool is_last = share->others <= 0 || meeting == MEETING_MOST;
        int steps = share->others > 0 ? share->one + model_steps(meeting) : share->all;

        if (is_last)
            weight = left;
        for (int depth = first; depth <= last; depth++) {
            int at = part_deeper(depth, steps);

            ratios[depth] += (float)weight * (at < 0 ? 1 : row[at]);
        }
        left -= weight;
        weight *= share->others / meeting;
    }
}

/* What a sample's likelihood, over that of a healthy one, is beside the parts that pass it, each
 * there for such a share of the time, and with another part at each depth, unless part is NULL. The
 * deepest of those that are there rules. Returns what it is without that part. */
static double mix(const struct diagnose_network *network, const struct passing *others,
                  const float *duties, const struct observation *sample, int bit, int load,
                  const struct part *part, struct depths depths, double *with)
{
    const float *row = sample->table->ratio[load][sample->is_seen][sample->bin];
    float ratios[MODEL_DEPTHS], own[MODEL_DEPTHS];
    double left = 1, mixed = 0;
    int depth = depths.last;

    if (part) {
        struct part_share share = part_share(network, part, sample);

        ratios_of(row, part, &share, depths, ratios);
    }
    for (int k = 0; k < others->count; k++) {
        int at = others->parts[k]->depth;
        struct part_share share;

        if (!(others->masks[k] >> bit & 1))
            continue;
        for (; part && depth >= at && depth >= depths.first; depth--)
            with[depth] = mixed + left * ratios[depth];
        share = part_share(network, others->parts[k], sample);
        ratios_of(row, others->parts[k], &share, (struct depths){at, at}, own);
        mixed += left * duties[k] * own[at];
        left *= 1 - duties[k];
    }
    for (; part && depth >= depths.first; depth--)
        with[depth] = mixed + left * ratios[depth];
    return mixed + left;
}

/* Adds weight times the likelihood of a run, over that of a healthy one, to what it is without the
 * part, and to what it is with each cell of the part, unless that is NULL. mask: its samples. */
static void add_variant(const struct observations *observations, const struct run *run,
                        const struct passing *others, const float *duties, const struct part *part,
                        struct depths depths, unsigned long long mask, int load, double weight,
                        double *without, double *cells)
{
    double products[MODEL_CELLS], with[MODEL_DEPTHS], rest = weight, all = weight;

    for (int cell = 0; part && cell < MODEL_CELLS; cell++)
        products[cell] = 1;
    for (unsigned long long left = mask | others->all; left; left &= left - 1) {
        int bit = __builtin_ctzll(left);
        bool is_passing = mask >> bit & 1;
        double own = mix(observations->network, others, duties,
                         &observations->items[run->begin + (unsigned)bit], bit, load,
                         is_passing ? part : NULL, depths, with) +
                     impossible;

        all *= own;
        if (!is_passing) {
            rest *= own;
            continue;
        }
        for (int depth = depths.first; depth <= depths.last; depth++)
            with[depth] += impossible - own;
        for (int duty = 0; duty < MODEL_DUTIES; duty++)
            for (int depth = depths.first; depth <= depths.last; depth++)
                products[duty * MODEL_DEPTHS + depth] *= own + model_duties[duty] * with[depth];
    }
    *without += all;
    for (int duty = 0; part && duty < MODEL_DUTIES; duty++)
        for (int depth = depths.first; depth <= depths.last; depth++)
            cells[duty * MODEL_DEPTHS + depth] += rest * products[duty * MODEL_DEPTHS + depth];
}

void run_weigh(const struct observations *observations, const struct run *run,
               const struct passing *others, const struct part *part, struct depths depths,
               double *without, double (*cells)[MODEL_CELLS])
{
    unsigned long long mask = part ? passing_mask(observations, part, run) : 0;
    double kept = model_value(MODEL_TOGETHER_RUN);
    float duties[PASSING_MOST] = {0};
    int lasting = -1;

    for (int i = 0; i < others->count; i++) {
        duties[i] = model_duties[others->parts[i]->duty];
        if (duties[i] < 1 && lasting < 0)
            lasting = i;
    }
    for (int load = 0; load < MODEL_LOADS; load++) {
        double *own = part ? cells[load] : NULL;
        float lasting_duty = lasting >= 0 ? duties[lasting] : 1;

        without[load] = 0;
        if (part)
            memset(own, 0, sizeof *cells);
        add_variant(observations, run, others, duties, part, depths, mask, load,
                    lasting < 0 ? 1 : 1 - kept, &without[load], own);
        for (int is_on = 0; is_on < 2 && lasting >= 0; is_on++) {
            duties[lasting] = (float)is_on;
            add_variant(observations, run, others, duties, part, depths, mask, load,
                        kept * (is_on ? lasting_duty : 1 - lasting_duty), &without[load], own);
            duties[lasting] = lasting_duty;
        }
        for (int duty = 1; part && lasting < 0 && duty < MODEL_DUTIES; duty++)
            for (int depth = depths.first; depth <= depths.last; depth++) {
                double share = model_duties[duty], *cell = &own[duty * MODEL_DEPTHS + depth];

                *cell =
                    (1 - kept) * *cell + kept * (share * own[depth] + (1 - share) * without[load]);
            }
        for (int duty = 1; part && is_untold(observations, part, run) && duty < MODEL_DUTIES;
             duty++)
            for (int depth = depths.first; depth <= depths.last; depth++)
                own[duty * MODEL_DEPTHS + depth] = without[load];
    }
}

double run_hiccup(const struct observations *observations, const struct run *run)
{
    int rails = (int)observations->network->rail_count, patterns = rails + 4;
    double healthy = 0, sum = 0;

    for (unsigned i = run->begin; i < run->end; i++) {
        const struct observation *sample = &observations->items[i];

        healthy += sample->table->healthy[MODEL_QUIET][sample->is_seen][sample->bin];
    }
    for (int pattern = 0; pattern < patterns; pattern++) {
        double products[MODEL_DEPTHS];
        int low = 0;

        for (int depth = 0; depth < MODEL_DEPTHS; depth++)
            products[depth] = 1;
        for (unsigned i = run->begin; i < run->end; i++) {
            const struct observation *sample = &observations->items[i];
            bool is_part = pattern == rails       ? true
                           : pattern == rails + 1 ? sample->is_up
                           : pattern == rails + 2 ? !sample->is_up
                           : pattern == rails + 3 ? sample->is_together
                                                  : sample->rail == pattern;

            for (int depth = 0; depth < MODEL_DEPTHS && is_part; depth++)
                products[depth] *=
                    sample->table->ratio[MODEL_QUIET][sample->is_seen][sample->bin][depth] +
                    impossible;
            low += is_part && sample->is_low;
        }
        for (int depth = 0; depth < MODEL_DEPTHS && low > 1; depth++)
            sum += products[depth] / MODEL_DEPTHS / patterns;
    }
    return healthy + log(sum + 1e-300);
}
