/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/tuned.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collectives/choose/background_load.h"
#include "collectives/choose/cache.h"
#include "collectives/choose/facts.h"
#include "collectives/choose/layout_mpi.h"
#include "collectives/choose/measure.h"
#include "collectives/choose/measured-code.h" /* made by Local.mk */
#include "lib/base/memory_stream.h"
#include "lib/constants/collectives_constants.h"

enum { FACTS = 512 };

struct tuned {
    struct machine machine;
    char path[PATH_MAX];
    char *force; /* "": nothing */
    bool with_mpi, keeps_order;
};

static void report(const struct tuned_options *options, int rank, const char *line)
{
    if (rank == 0 && options->report != NULL)
        options->report(line);
}

/* Broadcasts from rank 0. Returns 0, or -1 with err, at all ranks alike. */
static int broadcast(MPI_Comm comm, void *data, int count, MPI_Datatype type, struct error *err)
{
    bool is_done = PMPI_Bcast(data, count, type, 0, comm) == MPI_SUCCESS;

    return collective_agree(comm, is_done ? 0 : error_set(err, "MPI_Bcast failed"), err);
}

/* Broadcasts a text of rank 0, where NULL means that it had no memory for it. Returns a malloc'd
 * copy, or NULL with err, at all ranks alike. */
static char *share_text(MPI_Comm comm, int rank, const char *text, struct error *err)
{
    int length = rank == 0 && text != NULL ? (int)strlen(text) : -1;
    char *copy;

    if (broadcast(comm, &length, 1, MPI_INT, err) < 0)
        return NULL;
    copy = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (copy != NULL && rank == 0)
        memcpy(copy, text, (size_t)length);
    if (collective_agree(comm, copy != NULL ? 0 : error_set(err, "out of memory"), err) == 0 &&
        broadcast(comm, copy, length, MPI_CHAR, err) == 0)
        return copy;
    free(copy);
    return NULL;
}

/* ----------------------------------------------------------------------------- the fingerprint */

static int compare_facts(const void *left, const void *right)
{
    return strncmp(left, right, FACTS);
}

/* On rank 0: returns the fingerprint of the figures, from the facts of all ranks, which it sorts.
 * Sets *place to its first lines, which name the file. Both are malloc'd; NULL: out of memory. */
static char *describe(const struct layout *layout, char *facts, char **place)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], *text = NULL;
    size_t size, ranks = (size_t)layout->ranks;
    int length, leaves = 0;
    FILE *stream = memory_stream(&text, &size);

    if (stream == NULL)
        return NULL;
    for (int rank = 0; rank < layout->ranks; rank++)
        leaves = layout->leaf_of_rank[rank] >= leaves ? layout->leaf_of_rank[rank] + 1 : leaves;
    fprintf(stream, "ranks: %d on %d nodes below %d leaves, at most %d on one\n", layout->ranks,
            layout->nodes, leaves, layout->most_on_node);
    qsort(facts, ranks, FACTS, compare_facts);
    for (size_t i = 0; i < ranks; i++)
        if (i == 0 || strcmp(facts + i * FACTS, facts + (i - 1) * FACTS) != 0)
            fprintf(stream, "node: %s\n", facts + i * FACTS);
    fflush(stream);
    *place = text != NULL ? strdup(text) : NULL;
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    fprintf(stream, "mpi: %s\nmuster: %s, algorithms:", library, PACKAGE_VERSION);
    /* algorithms that are newer than the figures would never be chosen */
    for (const struct algorithm *a = algorithms; a->name != NULL; a++)
        fprintf(stream, " %s%s", a->kind == COLLECTIVE_ALLREDUCE ? "" : "+", a->name);
    fprintf(stream, "\ncode: %s\n", MEASURED_CODE);
    if (fclose(stream) != 0 || *place == NULL) {
        free(text);
        return NULL;
    }
    return text;
}

/* Gathers the facts; on rank 0 sets fingerprint and place by describe(). */
static int find_fingerprint(MPI_Comm comm, const struct layout *layout, int rank,
                            char **fingerprint, char **place, struct error *err)
{
    char own[FACTS] = "", *read = facts_read("", err);
    char *all = rank == 0 ? calloc((size_t)layout->ranks, FACTS) : NULL;
    int status = read != NULL ? 0 : -1;

    if (rank == 0 && all == NULL)
        status = error_set(err, "out of memory");
    status = collective_agree(comm, status, err);
    if (status == 0 && read != NULL) {
        snprintf(own, sizeof own, "%s", read);
        if (PMPI_Gather(own, FACTS, MPI_CHAR, all, FACTS, MPI_CHAR, 0, comm) != MPI_SUCCESS)
            status = error_set(err, "MPI_Gather failed");
        status = collective_agree(comm, status, err);
    }
    if (status == 0 && rank == 0)
        *fingerprint = describe(layout, all, place);
    free(read);
    free(all);
    return status;
}

/* ---------------------------------------------------------------------------------- the figures */

static double own_s(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Sets load to the share that other processes used since `before` on the worst node. before_s: this
 * rank's own_s() at that time. Returns 0, or -1 with err, at all ranks alike. */
static int find_background_load(MPI_Comm comm, const struct layout *layout, int rank,
                                struct background_load_mark before, double before_s, double *load,
                                struct error *err)
{
    double *node_s = calloc((size_t)layout->nodes, sizeof *node_s);
    struct background_load_mark after = background_load_read("");
    int node = layout->node_of_rank[rank];
    int status = collective_agree(comm, node_s != NULL ? 0 : error_set(err, "out of memory"), err);

    if (status == 0 && node_s != NULL) {
        node_s[node] = own_s() - before_s;
        if (PMPI_Allreduce(MPI_IN_PLACE, node_s, layout->nodes, MPI_DOUBLE, MPI_SUM, comm) !=
            MPI_SUCCESS)
            status = error_set(err, "MPI_Allreduce failed");
        *load = background_load_share(before, after, node_s[node]);
        if (PMPI_Allreduce(MPI_IN_PLACE, load, 1, MPI_DOUBLE, MPI_MAX, comm) != MPI_SUCCESS)
            status = error_set(err, "MPI_Allreduce failed");
        status = collective_agree(comm, status, err);
    }
    free(node_s);
    return status;
}

/* The time for benchmarks: 5 s, up to 12 s if links are slow or nodes oversubscribed. */
static double benchmark_budget_s(const struct machine *machine, const struct layout *layout)
{
    double oversubscription = layout->most_on_node / (2. * (double)sysconf(_SC_NPROCESSORS_ONLN));
    double links_s =
        CHOICE_BUDGET_MESSAGES / 1e6 * machine_link_us(machine, layout_farthest(layout), 1 << 20);

    return fmin(CHOICE_BUDGET_MOST_S,
                (CHOICE_BUDGET_LEAST_S + links_s) * fmax(1, oversubscription));
}

static int measure(MPI_Comm comm, const struct layout *layout, const struct tuned_options *options,
                   int rank, struct machine *machine, struct error *err)
{
    struct background_load_mark before = background_load_read("");
    double before_s = own_s(), limit_s;
    char line[128];

    report(options, rank, "measuring this machine once");
    if (measure_machine(comm, layout, machine, err) < 0)
        return -1;
    limit_s = benchmark_budget_s(machine, layout);
    snprintf(line, sizeof line, "trying algorithms, %.0f s at most", limit_s);
    report(options, rank, line);
    if (measure_benchmarks(comm, layout, limit_s, machine, err) < 0 ||
        find_background_load(comm, layout, rank, before, before_s, &machine->background_load, err) <
            0)
        return -1;
    machine->measured = 1;
    if (machine->background_load > background_load_max) {
        snprintf(line, sizeof line,
                 "other processes used %.2f of the processors during the measurement",
                 machine->background_load);
        report(options, rank, line);
    }
    return 0;
}

/* Sets is_quiet if all nodes were idle in the last minute, by their load averages. Returns 0, or -1
 * with err, at all ranks alike. */
static int find_quiet(MPI_Comm comm, bool *is_quiet, struct error *err)
{
    double most = background_load_max * (double)sysconf(_SC_NPROCESSORS_ONLN), load;
    int is_busy = getloadavg(&load, 1) != 1 || load >= most, status = 0;

    if (PMPI_Allreduce(MPI_IN_PLACE, &is_busy, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
        status = error_set(err, "MPI_Allreduce failed");
    *is_quiet = !is_busy;
    return collective_agree(comm, status, err);
}

/* Measures again a machine whose figures are from a busy time, and keeps the better figures. */
static int measure_again(MPI_Comm comm, const struct layout *layout,
                         const struct tuned_options *options, int rank, struct machine *machine,
                         struct error *err)
{
    struct machine first = *machine; /* of rank 0; on other ranks empty and not used */
    char line[128];

    snprintf(line, sizeof line, "measured while other processes used %.2f of the processors",
             first.background_load);
    report(options, rank, line);
    memset(machine, 0, sizeof *machine);
    if (measure(comm, layout, options, rank, machine, err) < 0) {
        machine_clear(&first);
        return -1;
    }
    *machine = background_load_keep_better(&first, machine);
    return 0;
}

/* On rank 0: reads kept figures. Returns whether there are any that can be used. */
static bool find_kept(struct tuned *tuned, const struct tuned_options *options,
                      const char *fingerprint, const char *place)
{
    const char *directory = getenv("MUSTER_COLLECTIVES_CACHE");
    struct error err;
    int status;

    if (fingerprint == NULL)
        return false;
    if (directory != NULL && *directory == '\0')
        directory = NULL;
    if (cache_path(directory, place, tuned->path, sizeof tuned->path, &err) < 0) {
        *tuned->path = '\0';
        report(options, 0, err.text);
        return false;
    }
    if (options->is_new)
        return false;
    status = cache_read(tuned->path, fingerprint, &tuned->machine, &err);
    if (status < 0) {
        error_prefix(&err, "figures not used");
        report(options, 0, err.text);
    }
    return status == 0;
}

static void write_figures(const struct tuned *tuned, const struct tuned_options *options,
                          const char *fingerprint)
{
    struct error err;

    if (*tuned->path != '\0' && cache_write(tuned->path, fingerprint, &tuned->machine, &err) < 0) {
        error_prefix(&err, "figures not kept");
        report(options, 0, err.text);
    }
}

/* Reads kept figures, or measures and keeps them. All ranks get those of rank 0, to the bit. */
static int find_figures(MPI_Comm comm, const struct layout *layout,
                        const struct tuned_options *options, int rank, struct tuned *tuned,
                        struct error *err)
{
    enum { USE, MEASURE, MEASURE_AGAIN };
    char *fingerprint = NULL, *place = NULL, *figures = NULL, *text;
    bool is_quiet = false;
    int status, what = USE;

    if (find_fingerprint(comm, layout, rank, &fingerprint, &place, err) < 0)
        return -1;
    if (rank == 0 && !find_kept(tuned, options, fingerprint, place))
        what = MEASURE;
    else if (rank == 0 && background_load_misled(&tuned->machine))
        what = MEASURE_AGAIN;
    status = broadcast(comm, &what, 1, MPI_INT, err);
    if (status == 0 && what == MEASURE_AGAIN)
        status = find_quiet(comm, &is_quiet, err);
    if (what == MEASURE_AGAIN && !is_quiet)
        what = USE;
    if (status == 0 && what != USE)
        status = (what == MEASURE ? measure : measure_again)(comm, layout, options, rank,
                                                             &tuned->machine, err);
    if (status == 0 && what != USE && rank == 0 && fingerprint != NULL)
        write_figures(tuned, options, fingerprint);
    if (status == 0) {
        figures = rank == 0 ? machine_write(&tuned->machine) : NULL;
        text = share_text(comm, rank, figures, err);
        machine_clear(&tuned->machine);
        status = text != NULL ? machine_read(text, "figures", &tuned->machine, err) : -1;
        free(text);
        status = collective_agree(comm, status, err);
    }
    free(figures);
    free(fingerprint);
    free(place);
    return status;
}

int tuned_create(MPI_Comm comm, const struct tuned_options *options, struct tuned **out,
                 struct error *err)
{
    struct tuned *tuned = calloc(1, sizeof *tuned);
    struct layout *layout = layout_find(comm, err);
    int rank, status = layout != NULL ? 0 : -1;

    *out = NULL;
    PMPI_Comm_rank(comm, &rank);
    if (tuned == NULL)
        status = error_set(err, "out of memory");
    status = collective_agree(comm, status, err);
    if (status == 0) {
        tuned->with_mpi = options->with_mpi;
        tuned->keeps_order = options->keeps_order;
        tuned->force = share_text(comm, rank, options->force != NULL ? options->force : "", err);
        status = tuned->force != NULL ? chooser_force(NULL, tuned->force, err) : -1;
        status = collective_agree(comm, status, err);
    }
    if (status == 0)
        status = find_figures(comm, layout, options, rank, tuned, err);
    layout_free(layout);
    if (status < 0) {
        tuned_destroy(tuned);
        return -1;
    }
    *out = tuned;
    return 0;
}

void tuned_destroy(struct tuned *tuned)
{
    if (tuned == NULL)
        return;
    machine_clear(&tuned->machine);
    free(tuned->force);
    free(tuned);
}

/* -------------------------------------------------------------------------------- communicators */

int tuned_comm_create(const struct tuned *tuned, MPI_Comm comm, struct tuned_comm *tuned_comm,
                      struct error *err)
{
    int *ring = NULL, status = -1;

    memset(tuned_comm, 0, sizeof *tuned_comm);
    tuned_comm->layout = layout_find(comm, err);
    if (tuned_comm->layout != NULL) {
        ring = calloc((size_t)tuned_comm->layout->ranks, sizeof *ring);
        status = ring != NULL ? 0 : error_set(err, "out of memory");
    }
    status = collective_agree(comm, status, err);
    if (status == 0) {
        layout_ring(tuned_comm->layout, ring);
        status =
            collective_create(comm, tuned->keeps_order ? NULL : ring, &tuned_comm->collective, err);
    }
    free(ring);
    if (status == 0) {
        tuned_comm->chooser = chooser_create(&tuned->machine, tuned_comm->layout,
                                             collective_topology(tuned_comm->collective));
        status = tuned_comm->chooser != NULL ? chooser_force(tuned_comm->chooser, tuned->force, err)
                                             : error_set(err, "out of memory");
        status = collective_agree(comm, status, err);
    }
    if (status < 0)
        tuned_comm_destroy(tuned_comm);
    else
        chooser_allow_mpi(tuned_comm->chooser, tuned->with_mpi);
    return status;
}

void tuned_comm_destroy(struct tuned_comm *tuned_comm)
{
    collective_destroy(tuned_comm->collective);
    chooser_destroy(tuned_comm->chooser);
    layout_free(tuned_comm->layout);
    memset(tuned_comm, 0, sizeof *tuned_comm);
}
