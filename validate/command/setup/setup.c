/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/regular_file.h"

struct options {
    const char *root;
    bool is_yes, is_undo;
};

static const struct option_row rows[] = {
    OPTION('r', "root", "DIR", "use the files below DIR, instead of this host's", TEXT,
           OPTION_FIELD(struct options, root)),
    OPTION('u', "undo", NULL, "remove the changes of muster setup, nothing else", FLAG,
           OPTION_FIELD(struct options, is_undo)),
    OPTION('y', "yes", NULL, "make the changes without asking", FLAG,
           OPTION_FIELD(struct options, is_yes)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster setup",
    .summary = "Proposes changes to the files of this host: the plugin's line in plugstack.conf "
               "and Slurm's health check in slurm.conf. Shows the changes, asks, and makes them. "
               "Settings of the site stay as they are. Prints, on a node, lines for a muster.conf "
               "of nodes that are all like it.",
    .status = "0 made, or nothing to do, 1 shown and not made, 2 usage, 3 a file could not be "
              "read or written.",
    .rows = rows,
};

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 0;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n' || i + 1 == length;
    return lines;
}

static void print_lines(char sign, const char *text, size_t length)
{
    for (size_t begin = 0, end; begin < length; begin = end + 1) {
        for (end = begin; end < length && text[end] != '\n'; end++)
            ;
        printf("%c%.*s\n", sign, (int)(end - begin), text + begin);
    }
}

/* Prints the change like diff -U0. A block changes a file in only one place. */
static void print_change(const struct setup_file *file)
{
    const char *before = file->before ? file->before : "", *after = file->after ? file->after : "";
    size_t first = 0, before_end = strlen(before), after_end = strlen(after), line;

    while (before[first] && before[first] == after[first])
        first++;
    while (first > 0 && before[first - 1] != '\n')
        first--;
    while (before_end > first && after_end > first &&
           before[before_end - 1] == after[after_end - 1])
        before_end--, after_end--;
    while (before[before_end] && before_end > 0 && before[before_end - 1] != '\n')
        before_end++, after_end++;
    line = count_lines(before, first);
    printf("--- %s\n+++ %s\n", file->before ? file->path : "/dev/null",
           file->after ? file->path : "/dev/null");
    printf("@@ -%zu,%zu +%zu,%zu @@\n", line + (before_end > first),
           count_lines(before + first, before_end - first), line + (after_end > first),
           count_lines(after + first, after_end - first));
    print_lines('-', before + first, before_end - first);
    print_lines('+', after + first, after_end - first);
}

static bool is_told_yes(const struct options *options)
{
    char answer[16] = "";

    if (options->is_yes || !isatty(0) || !isatty(1))
        return options->is_yes;
    printf("Make these changes? [y/N] ");
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

static int make_directories_of(const char *path, struct error *err)
{
    char directory[PATH_MAX];

    snprintf(directory, sizeof directory, "%s", path);
    for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(directory, 0755) == 0 ? chmod(directory, 0755) != 0 : errno != EEXIST)
            return error_set(err, "%s: %m", directory);
        *slash = '/';
    }
    return 0;
}

/* Whether the file is unchanged since the change was shown. */
static bool is_unchanged(const char *path, const struct setup_file *file, struct error *err)
{
    char *text;
    int status = regular_file_read(path, SETUP_TEXT_MOST, &text, err);
    bool is_same =
        text && file->before ? strcmp(text, file->before) == 0 : status == 1 && !file->before;

    free(text);
    if (!is_same && status >= 0)
        error_set(err, "%s: was changed meanwhile and is left as it is; run muster setup again",
                  path);
    return is_same;
}

/* Whether only root, this user and their groups can put links there. */
static bool is_safe(const struct stat *status)
{
    return (status->st_uid == 0 || status->st_uid == geteuid()) && !(status->st_mode & S_IWOTH) &&
           (!(status->st_mode & S_IWGRP) || status->st_gid == 0 || status->st_gid == getegid());
}

/* Refuses a file if others could put a link in place of a directory from its root, of length
 * root_length, down to the file, before the file is written. */
static int verify_directories(char *path, size_t root_length, struct error *err)
{
    struct stat status;
    int rv = 0;

    for (char *slash = path + root_length; rv == 0 && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (lstat(path, &status) == 0 && !is_safe(&status))
            rv = error_set(err,
                           "%s: belongs to UID %u and GID %u and has mode %04o, expected UID %u "
                           "and no write permission for another group or others; chmod go-w, or "
                           "run muster setup as its owner",
                           path, (unsigned)status.st_uid, (unsigned)status.st_gid,
                           (unsigned)status.st_mode & 07777, (unsigned)geteuid());
        *slash = '/';
    }
    return rv;
}

int setup_path(const char *root, const char *path, char real[PATH_MAX], struct error *err)
{
    char whole[PATH_MAX], there[PATH_MAX], top[PATH_MAX] = "", *slash;
    const char *rest;
    size_t length;

    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole)
        return error_set(err, "%.64s...: the path is too long", path);
    strcpy(there, whole);
    while (!realpath(there, real)) { /* find the part of the path that exists */
        struct stat status;

        slash = strrchr(there, '/');
        if (errno != ENOENT || !slash)
            return error_set(err, "%s: %m", whole);
        if (lstat(there, &status) == 0)
            return error_set(err, "%s: is a link to nothing", there);
        slash[slash == there] = '\0';
    }
    if (*root && !realpath(root, top))
        return error_set(err, "%s: %m", root);
    rest = whole + strlen(there);
    length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(real, top, length) != 0 || (length > 0 && real[length] && real[length] != '/'))
        return error_set(err, "%s: leads out of %s, to %s%s", whole, root, real, rest);
    if (strlen(real) + strlen(rest) >= PATH_MAX)
        return error_set(err, "%.64s...: the path is too long", path);
    strcat(real, rest);
    return length > 0 ? verify_directories(real, length, err) : 0;
}

/* Writes the target of a link, so that a shared slurm.conf stays shared. */
static int change_make(const char *root, const struct setup_file *file, struct error *err)
{
    char path[PATH_MAX];
    struct atomic_file written;

    if (setup_path(root, file->path, path, err) != 0 || !is_unchanged(path, file, err))
        return -1;
    if (!file->after)
        return unlink(path) == 0 ? 0 : error_set(err, "%s: %m", path);
    if (!file->before && make_directories_of(path, err) != 0)
        return -1;
    if (atomic_file_begin(&written, path, 0644, err) != 0)
        return -1;
    if (!file->before)
        written.mode = 0644;     /* whatever the umask: each user's srun reads it */
    if (written.has_new_owner) { /* slurm.conf must keep its owner */
        errno = EPERM;
        return atomic_file_discard(&written, err);
    }
    return fputs(file->after, written.stream) < 0 ? atomic_file_discard(&written, err)
                                                  : atomic_file_commit(&written, err);
}

static int setup(const char *name, const struct options *options, const struct node_view *node_view,
                 struct setup_files *files)
{
    const char *below = options->root ? " --root " : "", *root = options->root ? options->root : "";
    struct hostlist notes = {0};
    struct error err;
    size_t made = 0;
    int rv = options->is_undo ? setup_undo(node_view->root, files, &err)
                              : setup_propose(node_view, files, &notes, &err);
    int status = rv == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;

    for (size_t i = 0; rv == 0 && i < files->count; i++)
        print_change(&files->items[i]);
    for (size_t i = 0; rv == 0 && i < notes.count; i++)
        printf("%s.\n", notes.names[i]);
    hostlist_clear(&notes);
    if (rv == 0 && files->count == 0)
        puts("Nothing to do.");
    else if (rv == 0 && !is_told_yes(options))
        status = COMMAND_FAIL;
    while (status == COMMAND_PASS && made < files->count)
        if (change_make(node_view->root, &files->items[made], &err) == 0)
            made++;
        else
            status = COMMAND_UNKNOWN;
    if (status == COMMAND_UNKNOWN)
        fprintf(stderr, "%s: %s\n", name, err.text);
    else if (status == COMMAND_FAIL)
        printf("Nothing was changed; next: %s%s%s%s --yes\n", name, below, root,
               options->is_undo ? " --undo" : "");
    else if (files->count > 0)
        puts(options->is_undo
                 ? "Done; next: the same on the other hosts, then scontrol reconfigure"
                 : "Done; next: the same on the other hosts, then scontrol reconfigure "
                   "and muster doctor");
    for (size_t i = 0; status == COMMAND_UNKNOWN && i < made; i++)
        fprintf(stderr, "%s: %s was changed before; to %s: %s%s%s --undo\n", name,
                files->items[i].path, options->is_undo ? "go on" : "undo", name, below, root);
    return status;
}

int command_setup(int argc, char **argv)
{
    static struct node_view node_view;
    static struct setup_files files;
    struct options options = {0};
    char config[PATH_MAX];
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    snprintf(config, sizeof config, "%s%s", options.root ? options.root : "", conf_default_path());
    node_view.root = options.root ? options.root : "";
    status = COMMAND_PASS;
    if (!options.is_undo) /* undo needs no valid muster.conf */
        status = command_node_open(argv[0], options.root,
                                   options.root && access(config, F_OK) == 0 ? config : NULL,
                                   &node_view);
    if (status == COMMAND_PASS)
        status = setup(argv[0], &options, &node_view, &files);
    setup_clear(&files);
    command_node_close(&node_view);
    return status;
}
