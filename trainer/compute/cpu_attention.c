/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <stdlib.h>
#include <string.h>

/* Tile by tile with a running maximum and sum, so that the time x time matrix is never stored (Dao:
 * FlashAttention-2, 2023, algorithms 1 and 2). One thread takes a whole head of a sequence. */

enum { TILE = 64 };

/* One head of one sequence. Rows of q, k, v are `stride` apart, of out and dout `channels`. */
struct head {
    const real *q, *k, *v;
    int time, width, stride, channels;
    real scale;
};

static struct head head_at(const real *qkv, int index, int time, int heads, int channels)
{
    int width = channels / heads;
    const real *q = qkv + (size_t)(index / heads) * (size_t)time * 3 * (size_t)channels +
                    (size_t)(index % heads) * (size_t)width;

    return (struct head){q,     q + channels, q + 2 * channels, time,
                         width, 3 * channels, channels,         1 / (real)sqrt((double)width)};
}

static int tile_rows(int time, int first)
{
    return time - first < TILE ? time - first : TILE;
}

/* scores (rows x TILE) of the queries from `query` with the keys from `key`. */
static void score(const struct head *head, int query, int key, real *scores)
{
    cpu_gemm(&(struct gemm){.m = tile_rows(head->time, query),
                            .n = tile_rows(head->time, key),
                            .k = head->width,
                            .a = head->q + (size_t)query * (size_t)head->stride,
                            .b = head->k + (size_t)key * (size_t)head->stride,
                            .c = scores,
                            .lda = head->stride,
                            .ldb = head->stride,
                            .ldc = TILE,
                            .is_b_transposed = true,
                            .alpha = head->scale});
}

/* Of row `query` the keys from `key` on that it may see. */
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

static void attend(const struct head *head, int query, real *out, real *sums)
{
    int rows = tile_rows(head->time, query);
    real scores[TILE * TILE], most[TILE], sum[TILE];

    for (int i = 0; i < rows; i++) {
        most[i] = -INFINITY;
        sum[i] = 0;
        memset(out + (size_t)(query + i) * (size_t)head->channels, 0,
               (size_t)head->width * sizeof *out);
    }
    for (int key = 0; key < query + rows; key += TILE) {
        score(head, query, key, scores);
        for (int i = 0; i < rows; i++) {
            int seen = seen_keys(head, query + i, key);
            real before = most[i], factor;

            most[i] = row_greatest(scores + i * TILE, seen, before);
            factor = (real)exp((double)(before - most[i]));
            sum[i] = sum[i] * factor + row_exponentials(scores + i * TILE, seen, most[i]);
            if (key > 0)
                row_scale(out + (size_t)(query + i) * (size_t)head->channels, head->width, factor);
        }
        cpu_gemm(&(struct gemm){.m = rows,
                                .n = head->width,
                                .k = tile_rows(head->time, key),
                                .a = scores,
                                .b = head->v + (size_t)key * (size_t)head->stride,
                                .c = out + (size_t)query * (size_t)head->channels,
                                .lda = TILE,
                                .ldb = head->stride,
                                .ldc = head->channels,
                                .alpha = 1,
                                .beta = 1});
    }
    for (int i = 0; i < rows; i++) {
        row_scale(out + (size_t)(query + i) * (size_t)head->channels, head->width, 1 / sum[i]);
        sums[query + i] = most[i] + (real)log((double)sum[i]);
    }
}

void cpu_attention(const real *qkv, int batch, int time, int heads, int channels, real *out,
                   real *sums)
{
#pragma omp parallel for schedule(dynamic)
    for (int index = 0; index < batch * heads; index++) {
        struct head head = head_at(qkv, index, time, heads, channels);
        real *of_head = out + (size_t)(index / heads) * (size_t)time * (size_t)channels +
                        (size_t)(index % heads) * (size_t)head.width;

        for (int query = 0; query < time; query += TILE)
            attend(&head, query, of_head, sums + (size_t)index * (size_t)time);
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

/* a (rows of queries or keys, TILE apart) times b's rows into c's rows, added. */
static void accumulate(const struct head *head, int m, int k, const real *a, bool is_a_transposed,
                       const real *b, int ldb, real *c)
{
    cpu_gemm(&(struct gemm){.m = m,
                            .n = head->width,
                            .k = k,
                            .a = a,
                            .b = b,
                            .c = c,
                            .lda = TILE,
                            .ldb = ldb,
                            .ldc = head->stride,
                            .is_a_transposed = is_a_transposed,
                            .alpha = 1,
                            .beta = 1});
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

/* The queries from `query` with the keys from `key`. dots: D of each of these queries, the product
 * of dout and out. */
static void attend_backward(const struct head *head, int query, int key, const real *dout,
                            const real *sums, const real *dots, real *dq, real *dk, real *dv)
{
    int queries = tile_rows(head->time, query), keys = tile_rows(head->time, key);
    const real *d = dout + (size_t)query * (size_t)head->channels;
    size_t at_query = (size_t)query * (size_t)head->stride;
    size_t at_key = (size_t)key * (size_t)head->stride;
    real p[TILE * TILE], ds[TILE * TILE] = {0};

    score(head, query, key, p);
    probabilities(head, query, key, sums, p);
    accumulate(head, keys, queries, p, true, d, head->channels, dv + at_key);
    cpu_gemm(&(struct gemm){.m = queries,
                            .n = keys,
                            .k = head->width,
                            .a = d,
                            .b = head->v + at_key,
                            .c = ds,
                            .lda = head->channels,
                            .ldb = head->stride,
                            .ldc = TILE,
                            .is_b_transposed = true,
                            .alpha = 1});
    for (int i = 0; i < queries; i++)
        row_softmax_backward(p + i * TILE, dots[i], head->scale, ds + i * TILE);
    accumulate(head, queries, keys, ds, false, head->k + at_key, head->stride, dq + at_query);
    accumulate(head, keys, queries, ds, true, head->q + at_query, head->stride, dk + at_key);
}

static void clear_gradients(const struct head *head, real *dq)
{
    for (int t = 0; t < head->time; t++)
        for (int part = 0; part < 3; part++)
            memset(dq + (size_t)t * (size_t)head->stride + (size_t)part * (size_t)head->channels, 0,
                   (size_t)head->width * sizeof *dq);
}

static void head_backward(const struct head *head, const real *dout, const real *out,
                          const real *sums, real *dq)
{
    real *dk = dq + head->channels, *dv = dk + head->channels;

    clear_gradients(head, dq);
    for (int query = 0; query < head->time; query += TILE) {
        real dots[TILE];

        for (int i = 0; i < tile_rows(head->time, query); i++) {
            size_t at = (size_t)(query + i) * (size_t)head->channels;

            dots[i] = dot(dout + at, out + at, head->width);
        }
        for (int key = 0; key <= query; key += TILE)
            attend_backward(head, query, key, dout, sums, dots, dq, dk, dv);
    }
}

void cpu_attention_backward(const real *dout, const real *qkv, const real *out, const real *sums,
                            int batch, int time, int heads, int channels, real *dqkv)
{
#pragma omp parallel for schedule(dynamic)
    for (int index = 0; index < batch * heads; index++) {
        struct head head = head_at(qkv, index, time, heads, channels);
        size_t at = (size_t)(index / heads) * (size_t)time * (size_t)channels +
                    (size_t)(index % heads) * (size_t)head.width;
        size_t at_qkv = (size_t)(head.q - qkv);

        head_backward(&head, dout + at, out + at, sums + (size_t)index * (size_t)time,
                      dqkv + at_qkv);
    }
}
