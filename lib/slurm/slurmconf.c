/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/slurm/slurmconf.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/hostlist.h"
#include "lib/base/path.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"

enum { FILE_MAX = 4 << 20, LINES_MAX = 65536, INCLUDE_DEPTH = 8, CMDLINE_MAX = 4096 };

#define CONFIGLESS "/run/slurm/conf" /* the directory of a configless slurmd or sackd */

/* In libslurm's order (read_config.c): the directory that it was built with, then the configless
 * directory. The others are for a Slurm that was built with another prefix, as the default of its
 * configure, and AWS ParallelCluster's. */
static const char *const directories[] = {MUSTER_SLURMSYSCONFDIR, CONFIGLESS,
                                          "/etc/slurm",           "/etc/slurm-llnl",
                                          "/usr/local/etc",       "/opt/slurm/etc"};

static bool is_configless_slurmd(const char *root, pid_t pid)
{
    static const char name[] = "Name:\tslurmd\n", option[] = "--conf-server";
    char *status = sysfs_file(root, 4096, "proc/%d/status", (int)pid), *words = NULL;
    bool found = false;

    if (status && strncmp(status, name, strlen(name)) == 0 && strstr(status, "\nUid:\t0\t"))
        words = sysfs_file(root, CMDLINE_MAX, "proc/%d/cmdline", (int)pid);
    for (const char *word = words; word && word < words + CMDLINE_MAX && *word && !found;
         word += strlen(word) + 1)
        found = strncmp(word, option, strlen(option)) == 0;
    free(words);
    free(status);
    return found;
}

/* Returns whether a slurmd that runs here as root has its configuration from slurmctld (slurmd.c,
 * _establish_configuration()). Then the file that libslurm finds first may be outdated. */
static bool is_configless(const char *root)
{
    pid_t *pids;
    ssize_t count = sysfs_processes(root, &pids);
    bool found = false;

    for (ssize_t i = 0; i < count && !found; i++)
        found = is_configless_slurmd(root, pids[i]);
    free(pids);
    return found;
}

/* Returns $SLURM_CONF if root is this machine and it is a path, else NULL. */
static const char *find_env_file(const char *root)
{
    const char *path = getenv("SLURM_CONF");

    return !root[0] && path && strchr(path, '/') ? path : NULL;
}

int slurm_client_directory(const char *root, char *directory, size_t size, struct error *err)
{
    const char *path = find_env_file(root);

    if (path) {
        snprintf(directory, size, "%.*s", (int)(strrchr(path, '/') - path), path);
        if (sysfs_exists("", "%s", path + 1))
            return 0;
        return error_set(err, "no %s, the file in SLURM_CONF", path);
    }
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(directory, size, "%s", directories[i]);
        if (sysfs_exists(root, "%s/slurm.conf", directory + 1))
            return 0;
    }
    directory[0] = '\0';
    return error_set(err, "no slurm.conf in " MUSTER_SLURMSYSCONFDIR " or " CONFIGLESS "%s",
                     *root ? "" : "; set SLURM_CONF");
}

int slurm_directory(const char *root, char *directory, size_t size, struct error *err)
{
    if (slurm_client_directory(root, directory, size, err) != 0)
        return -1;
    if (!find_env_file(root) && strcmp(directory, CONFIGLESS) != 0 &&
        sysfs_exists(root, "%s/slurm.conf", &CONFIGLESS[1]) && is_configless(root))
        snprintf(directory, size, "%s", CONFIGLESS);
    return 0;
}

/* Removes a comment; "\#" is a number sign. */
static void strip_comment(char *text)
{
    char *out = text;

    for (const char *in = text; *in && *in != '#'; in++) {
        if (in[0] == '\\' && in[1] == '#')
            in++;
        *out++ = *in;
    }
    while (out > text && isspace((unsigned char)out[-1]))
        out--;
    *out = '\0';
}

static int add_line(struct slurm_lines *lines, const char *file, int number, char *text)
{
    if (!GROW(lines->lines, lines->count))
        return -1;
    lines->lines[lines->count++] = (struct slurm_line){file, number, text};
    return 0;
}

static int read_file(const char *root, const char *directory, const char *path, int depth,
                     struct slurm_lines *lines, struct error *err);

static bool is_include(const char *text)
{
    return strncasecmp(text, "include", 7) == 0 && isspace((unsigned char)text[7]);
}

/* Appends the name of an Include to path. Each "%c" is the cluster's name in lower case, from a
 * line before this one (parse_config.c, _parse_for_format()). */
static int append_name(char *path, size_t size, const char *name, const struct slurm_lines *lines,
                       struct error *err)
{
    static const char too_long[] = "the path is too long";
    char cluster[SYSFS_PATH];
    const char *part;

    for (; (part = strstr(name, "%c")); name = part + 2) {
        if (!slurm_lines_value(lines, "ClusterName", cluster, sizeof cluster))
            return error_set(err, "%s: no ClusterName before this line", name);
        for (char *c = cluster; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        if (text_join(path, size, "", "%.*s%s", (int)(part - name), name, cluster) != 0)
            return error_set(err, too_long);
    }
    return text_join(path, size, "", "%s", name) == 0 ? 0 : error_set(err, too_long);
}

static int include(const char *root, const char *directory, const char *file, int number,
                   const char *text, int depth, struct slurm_lines *lines, struct error *err)
{
    char path[SYSFS_PATH] = "", beside[SYSFS_PATH];
    const char *name = text + 7;
    size_t length;

    while (isspace((unsigned char)*name))
        name++;
    if (depth == INCLUDE_DEPTH)
        return error_set(err, "%s:%d: Include %s: more than %d deep", file, number, name,
                         INCLUDE_DEPTH);
    if (name[0] != '/')
        snprintf(path, sizeof path, "%s/", directory);
    length = strlen(path);
    if (append_name(path, sizeof path, name, lines, err) != 0)
        return error_prefix(err, "%s:%d: Include", file, number);
    /* Slurm before 23.02 searches in the directory of the file with the line (_add_full_path()).
     * If both files exist, such a release reads that one and this parser the other. */
    if (length > 0 && !sysfs_exists(root, "%s", path + 1) &&
        path_beside(file, path + length, beside, sizeof beside) &&
        sysfs_exists(root, "%s", beside + 1))
        strcpy(path, beside);
    switch (read_file(root, directory, path, depth + 1, lines, err)) {
    case 0:
        return 0;
    case 1:
        return error_prefix(err, "%s:%d: Include", file, number);
    default:
        return -1; /* err names the line in the included file */
    }
}

/* Returns the next line of *rest (not NULL) with its continuation lines, malloc'd; NULL if memory
 * is out. Adds the number of lines read to *number. */
static char *next_line(char **rest, int *number)
{
    char *joined = NULL, *part;
    size_t length = 0;

    while ((part = strsep(rest, "\n"))) {
        bool continues;
        size_t part_length;
        char *longer;

        ++*number;
        strip_comment(part);
        part_length = strlen(part);
        continues = part_length > 0 && part[part_length - 1] == '\\';
        if (continues)
            part[--part_length] = '\0';
        longer = realloc(joined, length + part_length + 1);
        if (!longer) {
            free(joined);
            return NULL;
        }
        joined = longer;
        memcpy(joined + length, part, part_length + 1);
        length += part_length;
        if (!continues)
            return joined;
    }
    return joined;
}

static int read_text(const char *root, const char *directory, const char *file, char *text,
                     int depth, struct slurm_lines *lines, struct error *err)
{
    char *rest = text, *line;
    int number = 0, first, result = 0;

    while (rest && result == 0) {
        char *begin;

        first = number + 1;
        line = next_line(&rest, &number);
        if (!line)
            return error_set(err, "%s: %m", file);
        begin = line + strspn(line, " \t\r\v\f");
        if (is_include(begin)) {
            result = include(root, directory, file, first, begin, depth, lines, err);
        } else if (*begin) {
            memmove(line, begin, strlen(begin) + 1);
            if (lines->count == LINES_MAX)
                result = error_set(err, "%s:%d: more than %d lines", file, first, LINES_MAX);
            else if (add_line(lines, file, first, line) < 0)
                result = error_set(err, "%s: %m", file);
            else
                line = NULL;
        }
        free(line);
    }
    return result;
}

/* Returns 0, 1 with err if there is no such file, or -1 with err. */
static int read_file(const char *root, const char *directory, const char *path, int depth,
                     struct slurm_lines *lines, struct error *err)
{
    enum { FILES = sizeof lines->files / sizeof *lines->files };
    char *text, *file;
    int result;

    if (lines->file_count == FILES)
        return error_set(err, "%s: more than %d files", path, FILES);
    text = sysfs_file(root, FILE_MAX, "%s", path + (path[0] == '/'));
    if (!text) {
        error_set(err, "%s: %m", path);
        return errno == ENOENT ? 1 : -1;
    }
    if (strlen(text) == FILE_MAX) {
        free(text);
        return error_set(err, "%s: more than %d bytes", path, FILE_MAX - 1);
    }
    file = lines->files[lines->file_count] = strdup(path);
    if (!file) {
        free(text);
        return error_set(err, "%s: %m", path);
    }
    lines->file_count++;
    result = read_text(root, directory, file, text, depth, lines, err);
    free(text);
    return result;
}

/* Returns the file name of slurm.conf in its directory; $SLURM_CONF may have another name. */
static const char *main_file(const char *root, const char *directory)
{
    const char *path = root[0] ? NULL : getenv("SLURM_CONF");
    size_t length = strlen(directory);

    return path && strncmp(path, directory, length) == 0 && path[length] == '/' &&
                   path[length + 1] && !strchr(path + length + 1, '/')
               ? path + length + 1
               : "slurm.conf";
}

int slurm_lines_read(const char *root, const char *directory, const char *file,
                     struct slurm_lines *lines, struct error *err)
{
    char path[SYSFS_PATH];

    memset(lines, 0, sizeof *lines);
    if (strcmp(file, "slurm.conf") == 0)
        file = main_file(root, directory);
    if (snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path)
        return error_set(err, "%s/%s: the path is too long", directory, file);
    return read_file(root, directory, path, 0, lines, err);
}

int slurm_file_read(const char *path, struct slurm_lines *lines, struct error *err)
{
    char whole[SYSFS_PATH] = "", *slash;

    memset(lines, 0, sizeof *lines);
    if ((path[0] != '/' && !getcwd(whole, sizeof whole)) ||
        text_join(whole, sizeof whole, "/", "%s", path) != 0)
        return error_set(err, "%s: the path is too long", path);
    slash = strrchr(whole, '/');
    *slash = '\0';
    return slurm_lines_read("", whole, slash + 1, lines, err) == 0 ? 0 : -1;
}

void slurm_lines_clear(struct slurm_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->lines[i].text);
    for (size_t i = 0; i < lines->file_count; i++)
        free(lines->files[i]);
    free(lines->lines);
    memset(lines, 0, sizeof *lines);
}

static const char blanks[] = " \t\r\v\f";

/* Returns the value at text without quotes. It ends at white space or at its closing quote. */
static const char *value_at(const char *text, size_t *length)
{
    const char *begin = text + (*text == '"');

    *length = *text == '"' ? strcspn(begin, "\"") : strcspn(begin, blanks);
    return begin;
}

/* Returns the value of key, or NULL. Blanks around the equals sign are allowed, as in Slurm's
 * parser. */
static const char *find_value(const struct slurm_line *line, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    const char *at = line->text + strspn(line->text, blanks);

    while (*at) {
        const char *word = at, *value;
        size_t word_length = strcspn(at, "= \t\r\v\f");

        at += word_length + strspn(at + word_length, blanks);
        if (*at != '=')
            continue;
        at++;
        value = value_at(at + strspn(at, blanks), length);
        if (word_length == key_length && strncasecmp(word, key, key_length) == 0)
            return value;
        at = value + *length + (value[*length] == '"');
        at += strspn(at, blanks);
    }
    return NULL;
}

bool slurm_line_value(const struct slurm_line *line, const char *key, char *value, size_t size)
{
    size_t length = 0;
    const char *found = find_value(line, key, &length);

    snprintf(value, size, "%.*s", (int)length, found ? found : "");
    return found;
}

char *slurm_line_text(const struct slurm_line *line, const char *key)
{
    size_t length;
    const char *found = find_value(line, key, &length);

    return found ? strndup(found, length) : NULL;
}

bool slurm_lines_value(const struct slurm_lines *lines, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    for (size_t i = lines->count; i-- > 0;)
        if (strncasecmp(lines->lines[i].text, key, length) == 0 &&
            slurm_line_value(&lines->lines[i], key, value, size))
            return true;
    value[0] = '\0';
    return false;
}

bool slurm_line_names(const struct slurm_line *line, const char *key, const char *name)
{
    char *text = slurm_line_text(line, key);
    struct hostlist list = {0};
    bool found = text && strcmp(text, name) == 0;

    if (text && !found && hostlist_expand(text, &list, NULL) == 0)
        found = hostlist_contains(&list, name);
    hostlist_clear(&list);
    free(text);
    return found;
}

void slurm_node_find(const struct slurm_lines *lines, const char *name, struct slurm_node *node)
{
    char gres[sizeof node->gres], default_gres[sizeof node->gres] = "", names[sizeof "DEFAULT" + 1];

    memset(node, 0, sizeof *node);
    for (size_t i = 0; i < lines->count; i++) {
        const struct slurm_line *line = &lines->lines[i];
        bool has_gres;

        if (strncasecmp(line->text, "NodeName", 8) != 0 ||
            !slurm_line_value(line, "NodeName", names, sizeof names))
            continue;
        has_gres = slurm_line_value(line, "Gres", gres, sizeof gres);
        if (strcasecmp(names, "DEFAULT") == 0) {
            if (has_gres)
                strcpy(default_gres, gres);
        } else if (slurm_line_names(line, "NodeName", name)) {
            node->is_found = true;
            node->file = line->file;
            node->number = line->number;
            strcpy(node->gres, has_gres ? gres : default_gres);
        }
    }
}

/* How a NodeHostname matches the host's name; a higher value is a better match. */
enum match { MATCH_NONE, MATCH_LABEL, MATCH_WHOLE, MATCH_SHORT };

static enum match match_host(const char *hostname, const char *host)
{
    size_t length = strcspn(host, ".");

    if (strncmp(hostname, host, length) != 0)
        return MATCH_NONE;
    return hostname[length] == '\0'      ? MATCH_SHORT
           : strcmp(hostname, host) == 0 ? MATCH_WHOLE
           : hostname[length] == '.'     ? MATCH_LABEL
                                         : MATCH_NONE;
}

struct host_match {
    enum match match;
    bool is_ambiguous;
    char *name;
    size_t size;
};

static void update_match(struct host_match *best, enum match match, const char *name)
{
    if (match == MATCH_NONE || match < best->match)
        return;
    best->is_ambiguous = match == best->match && strcmp(best->name, name) != 0;
    best->match = match;
    snprintf(best->name, best->size, "%s", name);
}

static void match_line(const struct slurm_line *line, const char *host, struct host_match *best)
{
    char *texts[] = {slurm_line_text(line, "NodeName"), slurm_line_text(line, "NodeHostname")};
    struct hostlist names = {0}, hosts = {0};

    if (texts[0] && strcasecmp(texts[0], "DEFAULT") != 0 &&
        hostlist_expand(texts[0], &names, NULL) == 0 &&
        (!texts[1] || hostlist_expand(texts[1], &hosts, NULL) == 0))
        for (size_t i = 0; i < names.count; i++) {
            /* with fewer NodeHostnames (several slurmd share a host), the last is for the rest */
            const char *hostname = hosts.count == 0  ? names.names[i]
                                   : i < hosts.count ? hosts.names[i]
                                                     : hosts.names[hosts.count - 1];

            update_match(best, match_host(hostname, host), names.names[i]);
        }
    hostlist_clear(&names);
    hostlist_clear(&hosts);
    free(texts[0]);
    free(texts[1]);
}

bool slurm_node_of_host(const struct slurm_lines *lines, const char *host, char *name, size_t size)
{
    struct host_match best = {.name = name, .size = size};

    name[0] = '\0';
    for (size_t i = 0; host[0] && host[0] != '.' && i < lines->count; i++)
        if (strncasecmp(lines->lines[i].text, "NodeName", 8) == 0)
            match_line(&lines->lines[i], host, &best);
    if (best.is_ambiguous)
        name[0] = '\0';
    return name[0];
}

/* Returns the count of "gpu", "gpu:8", "gpu:a100" or "gpu:a100:8", each perhaps with "(S:0-1)", or
 * as a TRES of "gpu=8" or "gpu:a100=8": the last part if it is a number, else 1. K, M, G, T and P
 * multiply by powers of 1024. Returns 0 for a last part that begins with a digit and is not a
 * number, "gpu:1g.5gb", which Slurm refuses. */
static long item_count(char *item)
{
    static const char suffixes[] = "KMGTP";
    static const long most = LONG_MAX >> 10; /* a line has fewer items: their sum fits */
    const char *suffix;
    char *colon, *equals, *end;
    long count;
    int shift;

    item[strcspn(item, "(")] = '\0';
    colon = strrchr(item, ':');
    equals = strrchr(item, '=');
    if (equals)
        colon = equals;
    if (!colon || !isdigit((unsigned char)colon[1]))
        return 1;
    count = strtol(colon + 1, &end, 10);
    suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    if (*end && (!suffix || end[1]))
        return 0;
    shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    return count > most >> shift ? most : count << shift;
}

long slurm_gres_count(const char *gres, const char *kind)
{
    char text[1024], *rest = text, *item;
    size_t length = strlen(kind);
    long count = 0;

    snprintf(text, sizeof text, "%s", gres);
    while ((item = strsep(&rest, ","))) {
        /* "(S:0,1)" also has a comma: the part after it does not begin with kind */
        if (strncasecmp(item, kind, length) == 0 && strchr(":=(", item[length]))
            count += item_count(item);
    }
    return count;
}

/* Returns whether item has a MIG profile, "1g.10gb", as AutoDetect names it, perhaps after a model:
 * "a100_3g.20gb". */
static bool has_mig_profile(const char *item)
{
    for (const char *c = item; (c = strstr(c, "g.")); c++)
        if (c > item && isdigit((unsigned char)c[-1])) {
            size_t digits = strspn(c + 2, "0123456789");

            if (digits > 0 && strncasecmp(c + 2 + digits, "gb", 2) == 0)
                return true;
        }
    return false;
}

bool slurm_gres_has_mig(const char *gres)
{
    char text[1024], *rest = text, *item;

    snprintf(text, sizeof text, "%s", gres);
    while ((item = strsep(&rest, ",")))
        if (strncasecmp(item, "gpu:", 4) == 0 && has_mig_profile(item))
            return true;
    return false;
}
