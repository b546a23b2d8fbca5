/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"
#include "validate/command/tar.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory_stream.h"
#include "lib/base/text.h"
#include "lib/base/write_all.h"

static void member_write(FILE *tar, const char *name, const char *text, size_t size)
{
    tar_member(tar, text_line("muster-doctor/%s", name).text, text, size);
}

/* Returns whether a line may contain a secret: in slurm.conf StoragePass, AuthAltParameters and the
 * like, in muster.conf variables with tokens, in both the address of a proxy with its password. */
static bool may_be_secret(const char *line)
{
    static const char *const words[] = {"pass",       "secret",  "token", "key",
                                        "credential", "authalt", "://",   "@"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(line, words[i]))
            return true;
    return false;
}

/* Writes the text, with only the key of lines that may contain a secret, and nothing of the lines
 * that continue them. */
static void secrets_leave_out(FILE *stream, char *text)
{
    char *rest = text, *line;
    bool is_continued = false;

    while ((line = strsep(&rest, "\n"))) {
        size_t start = strspn(line, " \t"), length = start + strcspn(line + start, ":= \t");
        bool has_key = line[length + strspn(line + length, " \t")] == '=' && !is_continued;
        bool is_secret = is_continued || may_be_secret(line);

        if (is_secret)
            fprintf(stream, "%.*s[left out]\n", has_key ? (int)length + 1 : 0, line);
        else if (*line || rest)
            fprintf(stream, "%s\n", line);
        length = strlen(line);
        while (length > 0 && isspace((unsigned char)line[length - 1]))
            length--;
        is_continued = is_secret && length > 0 && line[length - 1] == '\\';
    }
}

/* Of an error "FILE:LINE: ..." in muster.conf, keeps only the place if the line that it quotes may
 * contain a secret. */
static void quotes_leave_out(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *one = &findings->items[i];
        char *quote = strcmp(one->name, "configuration") == 0 && may_be_secret(one->found)
                          ? strstr(one->found, ": ")
                          : NULL;

        if (quote)
            text_put(quote, sizeof one->found - (size_t)(quote - one->found), ": [left out]");
    }
}

/* Ends the stream of a member, and adds it. */
static void member_end(FILE *tar, const char *name, FILE *stream, char **text, const size_t *size)
{
    if (fclose(stream) == 0)
        member_write(tar, name, *text, *size);
    free(*text);
}

static void file_add(FILE *tar, const struct doctor_site *site, const char *path, const char *name)
{
    struct error err;
    char whole[1200], *text = NULL, *kept = NULL;
    size_t size = 0;
    FILE *stream;

    snprintf(whole, sizeof whole, "%s%s", path == site->config ? "" : site->root, path);
    if (conf_load(whole, &text, &err) == 0 && (stream = memory_stream(&kept, &size))) {
        secrets_leave_out(stream, text);
        member_end(tar, name, stream, &kept, &size);
    }
    free(text);
}

int doctor_bundle(const char *path, const struct doctor_site *site, struct findings *findings,
                  struct error *err)
{
    static const char *const files[] = {"gres.conf", "cgroup.conf", "topology.conf",
                                        "plugstack.conf", "plugstack.conf.d/muster.conf"};
    char *text = NULL, *whole = NULL, name[600];
    size_t size = 0, length = 0;
    FILE *tar = memory_stream(&whole, &length), *stream;
    int fd, rv;

    if (!tar)
        return error_set(err, "%s: %m", path);
    quotes_leave_out(findings);
    if ((stream = memory_stream(&text, &size))) {
        doctor_print(stream, findings, false);
        member_end(tar, "page.txt", stream, &text, &size);
    }
    if ((stream = memory_stream(&text, &size))) {
        for (size_t i = 0; i < findings->count; i++)
            doctor_give(stream, &findings->items[i]);
        member_end(tar, "findings.jsonl", stream, &text, &size);
    }
    file_add(tar, site, site->config ? site->config : conf_default_path(), "muster.conf");
    if (site->slurm.file_count > 0)
        file_add(tar, site, site->slurm.files[0], "slurm/slurm.conf");
    for (size_t i = 0; *site->slurm_directory && i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", site->slurm_directory, files[i]);
        file_add(tar, site, name, text_line("slurm/%s", files[i]).text);
    }
    tar_end(tar);
    fd = fclose(tar) == 0 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    rv = fd >= 0 ? write_all(fd, whole, length) : -1;
    if (rv != 0)
        error_set(err, "%s: %m", path);
    if (fd >= 0 && close(fd) != 0 && rv == 0) /* NFS reports write errors here */
        rv = error_set(err, "%s: %m", path);
    if (rv != 0 && fd >= 0)
        unlink(path);
    free(whole);
    return rv;
}
