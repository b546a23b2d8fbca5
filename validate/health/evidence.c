/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/health/evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

static const char form[] = "%Y%m%dT%H%M%SZ", end[] = ".tar";

int evidence_directory(const char *certificate_path, char directory[EVIDENCE_PATH])
{
    /* the other half is left for the file names */
    return path_beside(certificate_path, "evidence", directory, EVIDENCE_PATH / 2) ? 0 : -1;
}

static void format_part(const char *part, char name[64])
{
    snprintf(name, 64, "%s", part);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != ':')
            *c = '_';
}

/* Parses "CODE-PART-TIME.tar"; codes and parts have no '-'. */
static bool evidence_parse(const char *directory, const char *name, struct evidence *evidence)
{
    const char *part = strchr(name, '-'), *time = strrchr(name, '-'), *rest;
    char code[64];
    struct tm utc = {0};

    if (!part || part == time || time - part > (int)sizeof evidence->part)
        return false;
    snprintf(code, sizeof code, "%.*s", (int)(part - name), name);
    *evidence = (struct evidence){.code = catalog_fault_parse(code)};
    snprintf(evidence->part, sizeof evidence->part, "%.*s", (int)(time - part - 1), part + 1);
    rest = strptime(time + 1, form, &utc);
    if (!rest || strcmp(rest, end) != 0 || evidence->code == FAULT_NONE)
        return false;
    evidence->time_s = timegm(&utc);
    return snprintf(evidence->path, sizeof evidence->path, "%s/%s", directory, name) <
           (int)sizeof evidence->path;
}

static int compare(const void *a, const void *b)
{
    const struct evidence *x = a, *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Returns the bundles, malloc'd, the oldest first; NULL if memory is out. */
static struct evidence *list_bundles(const char *directory, size_t *count)
{
    char **names;
    size_t found = sysfs_names("", &names, "%s", directory + 1);
    struct evidence *bundles = calloc(found + 1, sizeof *bundles);

    *count = 0;
    for (size_t i = 0; bundles && i < found; i++)
        *count += evidence_parse(directory, names[i], &bundles[*count]);
    sysfs_names_free(names, found);
    if (bundles)
        qsort(bundles, *count, sizeof *bundles, compare);
    return bundles;
}

bool evidence_is_wanted(const char *directory, enum fault_code code, const char *part,
                        int64_t now_s, int64_t since_s, struct evidence *evidence)
{
    char name[64], stamp[32] = "";
    size_t count;
    struct evidence *bundles = list_bundles(directory, &count);
    bool is_there = false;

    format_part(part, name);
    for (size_t i = 0; bundles && i < count; i++)
        if (bundles[i].code == code && strcmp(bundles[i].part, name) == 0 &&
            bundles[i].time_s >= since_s && bundles[i].time_s > now_s - EVIDENCE_KEEP_S) {
            *evidence = bundles[i];
            is_there = true;
        }
    free(bundles);
    if (is_there)
        return false;
    *evidence = (struct evidence){.code = code, .time_s = now_s};
    memcpy(evidence->part, name, sizeof name);
    text_time(stamp, sizeof stamp, form, (time_t)now_s);
    snprintf(evidence->path, sizeof evidence->path, "%.280s/%s-%s-%s%s", directory,
             catalog_fault(code)->name, name, stamp, end);
    return true;
}

int evidence_each(const char *directory, int64_t since_s,
                  void (*each)(const struct evidence *evidence, void *context), void *context)
{
    size_t count;
    struct evidence *bundles = list_bundles(directory, &count);
    int found = 0;

    for (size_t i = 0; bundles && i < count; i++)
        if (bundles[i].time_s >= since_s) {
            each(&bundles[i], context);
            found++;
        }
    free(bundles);
    return found;
}

/* Removes files NAME.tar.12345678: a bundle has such a name until it is complete. */
static void remove_unfinished(const char *directory)
{
    char **names, path[SYSFS_PATH];
    size_t count = sysfs_names("", &names, "%s", directory + 1);

    for (size_t i = 0; i < count; i++) {
        const char *tail = strstr(names[i], ".tar.");

        if (tail && snprintf(path, sizeof path, "%s/%s", directory, names[i]) < (int)sizeof path)
            unlink(path);
    }
    sysfs_names_free(names, count);
}

int evidence_make_room(const char *directory, struct error *err)
{
    struct evidence *bundles;
    struct stat status;
    size_t count;

    mkdir(directory, 0700);
    if (lstat(directory, &status) != 0)
        return error_set(err, "%s: %m", directory);
    if (!S_ISDIR(status.st_mode))
        return error_set(err, "%s: is not a directory", directory);
    remove_unfinished(directory);
    bundles = list_bundles(directory, &count);
    for (size_t i = 0; bundles && i + EVIDENCE_BUNDLES <= count; i++)
        unlink(bundles[i].path);
    free(bundles);
    return 0;
}
