/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/policy/quick_failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/constants/certify_constants.h"

/* A job on one of its nodes. */
struct entry {
    const char *node;
    uid_t uid;
    bool has_failed;
};

static int by_node_and_user(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = strcmp(a->node, b->node);

    return order ? order : (a->uid > b->uid) - (a->uid < b->uid);
}

/* The jobs of a user. */
struct user_jobs {
    uid_t uid;
    size_t ended, failed;
};

static int by_user(const void *left, const void *right)
{
    const struct user_jobs *a = left, *b = right;

    return (a->uid > b->uid) - (a->uid < b->uid);
}

/* Returns the jobs of each user, by user, malloc'd; NULL if memory is out. */
static struct user_jobs *sum_users(const struct ended_job *jobs, size_t count, size_t *user_count)
{
    struct user_jobs *users = malloc((count + 1) * sizeof *users);

    *user_count = 0;
    for (size_t i = 0; i < count && users; i++)
        users[i] = (struct user_jobs){jobs[i].uid, 1, jobs[i].has_failed_early};
    if (users)
        qsort(users, count, sizeof *users, by_user);
    for (size_t i = 0; i < count && users; i++) {
        struct user_jobs *last = *user_count > 0 ? &users[*user_count - 1] : NULL;

        if (last && last->uid == users[i].uid) {
            last->ended++;
            last->failed += users[i].failed;
        } else {
            users[(*user_count)++] = users[i];
        }
    }
    return users;
}

/* Evaluates one node, by its entries, which are sorted by user. Returns whether it stands out. */
static bool evaluate(const struct user_jobs *users, size_t user_count, const struct entry *entries,
                     size_t entry_count, char *text, size_t size)
{
    size_t failed = 0, users_failed = 0;
    double expected = 0;

    for (size_t begin = 0, end; begin < entry_count; begin = end) {
        const struct user_jobs *all = bsearch(&(struct user_jobs){.uid = entries[begin].uid}, users,
                                              user_count, sizeof *users, by_user);
        size_t failed_of_user = 0;

        for (end = begin; end < entry_count && entries[end].uid == entries[begin].uid; end++)
            failed_of_user += entries[end].has_failed;
        expected += (double)(end - begin) * (double)(all->failed - failed_of_user + 1) /
                    (double)(all->ended - (end - begin) + 2);
        users_failed += failed_of_user > 0;
        failed += failed_of_user;
    }
    snprintf(text, size,
             "%zu of %zu jobs there failed within %d s, of %zu users; expected %.1f, from these "
             "users' jobs on other nodes",
             failed, entry_count, SUSPECTS_QUICK_S, users_failed, expected);
    return failed >= SUSPECTS_QUICK_JOBS && users_failed >= 2 &&
           statistics_poisson_tail(failed, expected) < 1 / SUSPECTS_QUICK_ODDS;
}

int quick_failures_find(const struct ended_job *jobs, size_t count, quick_failures_fn *on_node,
                        void *context)
{
    size_t entry_count = 0, user_count;
    struct user_jobs *users = sum_users(jobs, count, &user_count);
    struct entry *entries;
    int found = 0;

    for (size_t i = 0; i < count; i++)
        entry_count += jobs[i].nodes.count;
    entries = malloc((entry_count + 1) * sizeof *entries);
    if (!entries || !users) {
        free(entries);
        free(users);
        return -1;
    }
    entry_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < jobs[i].nodes.count; k++)
            entries[entry_count++] =
                (struct entry){jobs[i].nodes.names[k], jobs[i].uid, jobs[i].has_failed_early};
    qsort(entries, entry_count, sizeof *entries, by_node_and_user);
    for (size_t begin = 0, end; begin < entry_count; begin = end) {
        char text[256];

        for (end = begin; end < entry_count && strcmp(entries[end].node, entries[begin].node) == 0;)
            end++;
        if (evaluate(users, user_count, &entries[begin], end - begin, text, sizeof text)) {
            on_node(entries[begin].node, text, context);
            found++;
        }
    }
    free(entries);
    free(users);
    return found;
}
