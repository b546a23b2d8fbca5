/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "lib/base/sysfs.h"

enum { PROGRAM_HEADERS = 64, NOTES = 4096 };

/* Searches the notes of one segment for the build id. */
static bool find_note(const char *notes, size_t size, char text[BUILD_ID_TEXT])
{
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr note;
        size_t name_size, id_size;
        const unsigned char *id;

        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        name_size = ((size_t)note.n_namesz + 3) / 4 * 4;
        id_size = ((size_t)note.n_descsz + 3) / 4 * 4;
        if (name_size > size - at || id_size > size - at - name_size)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + at, "GNU", 4) == 0) {
            id = (const unsigned char *)notes + at + name_size;
            for (size_t i = 0; i < note.n_descsz && i < (BUILD_ID_TEXT - 1) / 2; i++)
                sprintf(text + 2 * i, "%02x", id[i]);
            return true;
        }
        at += name_size + id_size;
    }
    return false;
}

static bool find_id(int fd, char text[BUILD_ID_TEXT])
{
    Elf64_Ehdr header;
    bool is_found = false;

    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (int i = 0; i < header.e_phnum && i < PROGRAM_HEADERS && !is_found; i++) {
        Elf64_Phdr segment;
        char notes[NOTES];
        ssize_t got;

        if (pread(fd, &segment, sizeof segment,
                  (off_t)(header.e_phoff + (size_t)i * sizeof segment)) != (ssize_t)sizeof segment)
            return false;
        if (segment.p_type != PT_NOTE)
            continue;
        got = pread(fd, notes, segment.p_filesz < NOTES ? segment.p_filesz : NOTES,
                    (off_t)segment.p_offset);
        is_found = got > 0 && find_note(notes, (size_t)got, text);
    }
    return is_found;
}

void build_id_read(const char *root, const char *path, char text[BUILD_ID_TEXT])
{
    char whole[SYSFS_PATH];
    int fd;

    text[0] = '\0';
    if (sysfs_path(root, whole, sizeof whole, "%s", path) != 0)
        return;
    fd = regular_file_open(whole, NULL);
    if (fd < 0)
        return;
    find_id(fd, text);
    close(fd);
}
