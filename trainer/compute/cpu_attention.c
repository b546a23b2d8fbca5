/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <stdlib.h>
#include <string.h>

/* Tile by tile with a running maximum and sum, so that the time x time matrix is never stored (Dao:
 * FlashAttention-2, 2023, algorithms 1 and 2). One thread computes a whole head of a sequence. */

enum { TILE = 64 };

/* One head of one sequence, time x width each, copied to arrays of their own: the library packs
 * narrow columns of wide rows slowly. Forward does not use the gradients. */
struct head {
    int time, width;
    real scale;
    real *q, *k, *v, *out;
    real *dq, *dk, *dv, *dout;
};

static struct head head_make(int time, int width)
{
    size_t size = (size_t)time * (size_t)width;
    real *scratch = cpu_scratch(CPU_SCRATCH_OWN, 8 * size * sizeof *scratch);

    return (struct head){time,
                         width,
                         1 / (real)sqrt((double)width),
                         scratch,
                         scratch + size,
                         scratch + 2 * size,
                         scratch + 3 * size,
                         scratch + 4 * size,
                         scratch + 5 * size,
                         scratch + 6 * size,
                         scratch + 7 * size};
}

VECTORISED static void gather_rows(const element *from, int rows, int width, size_t stride,
                                   real *to)
{
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < width; i++)
            to[row * width + i] = element_get(from[(size_t)row * stride + (size_t)i]);
}

VECTORISED static void scatter_rows(const real *from, int rows, int width, size_t stride,
                                    element *to)
{
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < width; i++)
            to[(size_t)row * stride + (size_t)i] = element_of(from[row * width + i]);
}

/* Returns the offset of head `index`, of the heads of all sequences, in an array with rows of
 * `stride` elements. */
static size_t head_at(const struct head *head, int index, int heads, size_t stride)
{
    return (size_t)(index / heads) * (size_t)head->time * stride +
           (size_t)(index % heads) * (size_t)head->width;
}

static void gather_qkv(const struct head *head, const element *qkv, size_t channels)
{
    gather_rows(qkv, head->time, head->width, 3 * channels, head->q);
    gather_rows(qkv + channels, head->time, head->width, 3 * channels, head->k);
    gather_rows(qkv + 2 * channels, head->time, head->width, 3 * channels, head->v);
}

static int tile_rows(int time, int first)
{
    return time - first < TILE ? time - first : TILE;
}

static size_t row_at(const struct head *head, int row)
{
    return (size_t)row * (size_t)head->width;
}

/* scores (rows x TILE): products of a's rows from `query` on with b's from `key` on, scaled. */
static void score(const struct head *head, int query, int key, const real *a, const real *b,
                  real scale, real *scores)
{
    cpu_gemm(&(struct gemm){.m = tile_rows(head->time, query),
                            .n = tile_rows(head->time, key),
                            .k = head->width,
                            .a = a + row_at(head, query),
                            .b = b + row_at(head, key),
                            .c = scores,
                            .lda = head->width,
                            .ldb = head->width,
                            .ldc = TILE,
                            .is_b_transposed = true,
                            .alpha = scale});
}

/* c's rows = or += a (rows of queries or keys, TILE apart) times b's rows. */
static void combine(const struct head *head, int m, int k, const real *a, bool is_a_transposed,
                    const real *b, bool is_added, real *c)
{
    cpu_gemm(&(struct gemm){.m = m,
                            .n = head->width,
                            .k = k,
                            .a = a,
                            .b = b,
                            .c = c,
                            .lda = TILE,
                            .ldb = head->width,
                            .ldc = head->width,
                            .is_a_transposed = is_a_transposed,
                            .alpha = 1,
                            .beta = is_added});
}

/* Returns how many keys of the tile from `key` on the row `query` may see. */
static int seen_keys(const struct head *head, int query, int key)
{
    int keys = tile_rows(head->time, key), seen = query - key + 1;

    return seen < keys ? seen : keys;
}

static real row_greatest(const real *x, int count, real most)
{
    for (int i = 0; i < count; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

/* x becomes e^(x - shift) for the first `seen`, 0 for the others. Returns their sum. */
VECTORISED static real row_exponentials(real *x, int seen, real shift)
{
    real lanes[CPU_LANES] = {0}, sum = 0;

    for (int i = seen; i < TILE; i++)
        x[i] = -INFINITY;
    for (int i = 0; i < TILE; i += CPU_LANES) {
        for (int lane = 0; lane < CPU_LANES; lane++) {
            real e = cpu_exp(x[i + lane] - shift);

            x[i + lane] = e;
            lanes[lane] += e;
        }
    }
    for (int lane = 0; lane < CPU_LANES; lane++)
        sum += lanes[lane];
    return sum;
}

VECTORISED static void row_scale(real *x, int count, real factor)
{
    for (int i = 0; i < count; i++)
        x[i] *= factor;
}

static void attend(const struct head *head, int query, real *sums)
{
    int rows = tile_rows(head->time, query);
    real scores[TILE * TILE], most[TILE], sum[TILE];
    real *out = head->out + row_at(head, query);

    for (int i = 0; i < rows; i++) {
        most[i] = -INFINITY;
        sum[i] = 0;
    }
    for (int key = 0; key < query + rows; key += TILE) {
        score(head, query, key, head->q, head->k, head->scale, scores);
        for (int i = 0; i < rows; i++) {
            int seen = seen_keys(head, query + i, key);
            real before = most[i], factor;

            most[i] = row_greatest(scores + i * TILE, seen, before);
            factor = (real)exp((double)(before - most[i]));
            sum[i] = sum[i] * factor + row_exponentials(scores + i * TILE, seen, most[i]);
            if (key > 0)
                row_scale(out + row_at(head, i), head->width, factor);
        }
        combine(head, rows, tile_rows(head->time, key), scores, false, head->v + row_at(head, key),
                key > 0, out);
    }
    for (int i = 0; i < rows; i++) {
        row_scale(out + row_at(head, i), head->width, 1 / sum[i]);
        sums[query + i] = most[i] + (real)log((double)sum[i]);
    }
}

void cpu_attention(const activations *qkv, int batch, int time, int heads, int channels,
                   activations *out, real *sums)
{
    const element *qkvs = qkv;
    element *outs = out;
    size_t width = (size_t)channels;

#pragma omp parallel for schedule(dynamic)
    for (int index = 0; index < batch * heads; index++) {
        struct head head = head_make(time, channels / heads);

        gather_qkv(&head, qkvs + head_at(&head, index, heads, 3 * width), width);
        for (int query = 0; query < time; query += TILE)
            attend(&head, query, sums + (size_t)index * (size_t)time);
        scatter_rows(head.out, time, head.width, width, outs + head_at(&head, index, heads, width));
    }
}

/* P (rows x TILE) from the scores, by the sums of the forward pass. */
static void probabilities(const struct head *head, int query, int key, const real *sums,
                          real *scores)
{
    for (int i = 0; i < tile_rows(head->time, query); i++)
        row_exponentials(scores + i * TILE, seen_keys(head, query + i, key), sums[query + i]);
}

/* dS = P (dP - D) scale, in place of dP. */
VECTORISED static void row_softmax_backward(const real *p, real d, real scale, real *dp)
{
    for (int i = 0; i < TILE; i++)
        dp[i] = p[i] * (dp[i] - d) * scale;
}

VECTORISED static real dot(const real *a, const real *b, int count)
{
    real lanes[CPU_LANES] = {0}, sum = 0;
    int whole = count - count % CPU_LANES;

    for (int i = 0; i < whole; i += CPU_LANES)
        for (int lane = 0; lane < CPU_LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (int i = whole; i < count; i++)
        lanes[i - whole] += a[i] * b[i];
    for (int lane = 0; lane < CPU_LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* Backward of the queries from `query` on with the keys from `key` on. dots: D of each of these
 * queries, the product of dout and out. */
static void attend_backward(const struct head *head, int query, int key, const real *sums,
                            const real *dots)
{
    int queries = tile_rows(head->time, query), keys = tile_rows(head->time, key);
    size_t at_query = row_at(head, query), at_key = row_at(head, key);
    real p[TILE * TILE], ds[TILE * TILE] = {0};

    score(head, query, key, head->q, head->k, head->scale, p);
    probabilities(head, query, key, sums, p);
    combine(head, keys, queries, p, true, head->dout + at_query, true, head->dv + at_key);
    score(head, query, key, head->dout, head->v, 1, ds);
    for (int i = 0; i < queries; i++)
        row_softmax_backward(p + i * TILE, dots[i], head->scale, ds + i * TILE);
    combine(head, queries, keys, ds, false, head->k + at_key, true, head->dq + at_query);
    combine(head, keys, queries, ds, true, head->q + at_query, true, head->dk + at_key);
}

static void head_backward(const struct head *head, const real *sums)
{
    size_t size_bytes = row_at(head, head->time) * sizeof(real);

    memset(head->dq, 0, size_bytes);
    memset(head->dk, 0, size_bytes);
    memset(head->dv, 0, size_bytes);
    for (int query = 0; query < head->time; query += TILE) {
        real dots[TILE];

        for (int i = 0; i < tile_rows(head->time, query); i++) {
            size_t at = row_at(head, query + i);

            dots[i] = dot(head->dout + at, head->out + at, head->width);
        }
        for (int key = 0; key <= query; key += TILE)
            attend_backward(head, query, key, sums, dots);
    }
}

void cpu_attention_backward(const activations *dout, const activations *qkv, const activations *out,
                            const real *sums, int batch, int time, int heads, int channels,
                            activations *dqkv)
{
    const element *douts = dout, *qkvs = qkv, *outs = out;
    element *dqkvs = dqkv;
    size_t width = (size_t)channels;

#pragma omp parallel for schedule(dynamic)
    for (int index = 0; index < batch * heads; index++) {
        struct head head = head_make(time, channels / heads);
        size_t at = head_at(&head, index, heads, width);
        element *to = dqkvs + head_at(&head, index, heads, 3 * width);

        gather_qkv(&head, qkvs + head_at(&head, index, heads, 3 * width), width);
        gather_rows(outs + at, time, head.width, width, head.out);
        gather_rows(douts + at, time, head.width, width, head.dout);
        head_backward(&head, sums + (size_t)index * (size_t)time);
        scatter_rows(head.dq, time, head.width, 3 * width, to);
        scatter_rows(head.dk, time, head.width, 3 * width, to + width);
        scatter_rows(head.dv, time, head.width, 3 * width, to + 2 * width);
    }
}
