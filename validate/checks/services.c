/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/sysfs.h"

/* host.services: systemd keeps a link for each unit that is neither inactive nor failed
 * (src/core/unit.c, unit_notify). So the check needs no program and no D-Bus, which may hang. A
 * service that systemd is restarting after an error has a link too. */
#define UNITS "run/systemd/units"

static bool has_link(const char *root, const char *unit)
{
    char path[SYSFS_PATH], target[64];

    return sysfs_path(root, path, sizeof path, UNITS "/invocation:%s", unit) == 0 &&
           readlink(path, target, sizeof target) > 0;
}

/* The link has the unit's own name. An alias, as chronyd of Debian's chrony, is a link among the
 * unit files (systemd.unit(5)). */
static bool is_running(const char *root, const char *service)
{
    static const char suffix[] = ".service";
    static const char *const folders[] = {"etc", "run", "usr/local/lib", "usr/lib", "lib"};
    size_t length = strlen(service);
    bool has_suffix =
        length >= sizeof suffix - 1 && strcmp(service + length - (sizeof suffix - 1), suffix) == 0;
    char unit[SYSFS_PATH], of_alias[SYSFS_PATH];
    bool is_found;

    snprintf(unit, sizeof unit, "%s%s", service, has_suffix ? "" : suffix);
    is_found = has_link(root, unit);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !is_found; i++)
        is_found = sysfs_link(root, of_alias, sizeof of_alias, "%s/systemd/system/%s", folders[i],
                              unit) == 0 &&
                   has_link(root, of_alias);
    return is_found;
}

void check_services(const struct checks *checks)
{
    const struct hostlist *services = &checks->conf->services;
    char path[SYSFS_PATH];

    if (services->count == 0) {
        checks_record(checks, "", VERDICT_SKIP, "Services is not set in the configuration");
        return;
    }
    if (sysfs_path(checks->root, path, sizeof path, UNITS) < 0 || access(path, X_OK) < 0) {
        checks_record(checks, "", checks->root[0] ? VERDICT_SKIP : VERDICT_UNKNOWN,
                      "cannot read /%s: systemd is not running, or is older than 237", UNITS);
        return;
    }
    for (size_t i = 0; i < services->count; i++)
        if (is_running(checks->root, services->names[i]))
            checks_record(checks, services->names[i], VERDICT_PASS, "runs");
        else
            checks_fault(checks, services->names[i], FAULT_SERVICE_DOWN,
                         "%s is not running; see systemctl status %s", services->names[i],
                         services->names[i]);
}
