/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/absences.h"

#include <string.h>

static const char title[] = "muster absences 2";

void absences_init(struct absences *absences, const char *boot_id)
{
    memset(absences, 0, sizeof *absences);
    snprintf(absences->boot_id, sizeof absences->boot_id, "%s", boot_id);
}

bool absences_concern(enum fault_code code)
{
    return code == FAULT_GPU_MISSING || code == FAULT_GPU_LOST || code == FAULT_GPU_NO_DRIVER ||
           code == FAULT_GPU_LINK_DOWN || code == FAULT_GRES_MISMATCH ||
           code == FAULT_INTERFACE_MISSING || code == FAULT_LINK_DOWN;
}

/* Finds or adds the absence; NULL if there is no room. */
static struct absence *find(struct absences *absences, enum fault_code code, const char *part)
{
    struct absence *absence;

    for (size_t i = 0; i < absences->count; i++)
        if (absences->items[i].code == code && strcmp(absences->items[i].part, part) == 0)
            return &absences->items[i];
    if (absences->count == ABSENCES_MOST || strlen(part) >= sizeof absence->part)
        return NULL;
    absence = &absences->items[absences->count++];
    *absence = (struct absence){.code = code};
    strcpy(absence->part, part);
    return absence;
}

unsigned absences_add(struct absences *absences, const char *test, enum fault_code code,
                      const char *part)
{
    struct absence *absence = find(absences, code, part);

    if (!absence)
        return ABSENCES_IN_A_ROW;
    if (!absence->is_missing && absence->times < ABSENCES_IN_A_ROW)
        absence->times++;
    absence->is_missing = true;
    snprintf(absence->test, sizeof absence->test, "%s", test);
    return absence->times;
}

/* Each line: times, test, code, and the part up to the end of the line. */
int absences_write(const void *what, FILE *stream)
{
    const struct absences *absences = what;

    fprintf(stream, "%s\nboot %s\n", title, absences->boot_id);
    for (size_t i = 0; i < absences->count; i++)
        if (absences->items[i].is_missing)
            fprintf(stream, "%u %s %s %s\n", absences->items[i].times, absences->items[i].test,
                    catalog_fault(absences->items[i].code)->name, absences->items[i].part);
    return ferror(stream) ? -1 : 0;
}

static void parse_line(struct absences *absences, const char *line)
{
    struct absence *absence;
    char test[sizeof absence->test], name[64];
    unsigned times;
    int behind = 0;

    if (sscanf(line, "%u %31s %63s%n", &times, test, name, &behind) != 3 || line[behind] != ' ' ||
        !absences_concern(catalog_fault_parse(name)))
        return;
    absence = find(absences, catalog_fault_parse(name), line + behind + 1);
    if (!absence)
        return;
    absence->times = times < ABSENCES_IN_A_ROW ? times : ABSENCES_IN_A_ROW;
    strcpy(absence->test, test);
}

int absences_parse(struct absences *absences, char *text, const char *boot_id)
{
    char head[128], *line, *end;

    absences_init(absences, boot_id);
    snprintf(head, sizeof head, "%s\nboot %s\n", title, boot_id);
    if (strncmp(text, head, strlen(head)) != 0)
        return -1;
    for (line = text + strlen(head); (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        parse_line(absences, line);
    }
    return 0;
}
