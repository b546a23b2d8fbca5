/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/spank-host/fixture.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"
#include "lib/certificate/seal.h"
#include "lib/conf/conf.h"
#include "lib/node/inventory.h"
#include "tests/spank-host/host.h"
#include "tests/unit/tap.h"

static char plugin_path[4096], directory[4096], config_argument[4300];

const char *fixture_path(const char *name)
{
    static char path[4200];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");

    if (stream == NULL || fputs(text, stream) < 0 || fclose(stream) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(255);
    }
}

void fixture_load(spank_context_t context, const char *conf)
{
    host_load(plugin_path, context);
    if (conf != NULL)
        write_file(fixture_path("muster.conf"), conf);
    else
        unlink(fixture_path("muster.conf"));
    snprintf(config_argument, sizeof config_argument, "config=%s", fixture_path("muster.conf"));
    host_arguments[0] = config_argument;
}

/* ---------------------------------------------------------------- certificates */

static void issue(const char *node, const char *cluster, long expires_in_s, const char *add)
{
    struct inventory *inventory = inventory_read("", NULL);
    struct certificate certificate = {.issued = time(NULL) - 7200};
    struct conf conf;
    struct error err = {""};
    char *text = NULL, *seal = NULL, *fingerprint, changed[65536];

    conf_defaults(&conf);
    fingerprint = fingerprint_node(inventory, &conf);
    snprintf(changed, sizeof changed, "%s%s", fingerprint, add);
    snprintf(certificate.node, sizeof certificate.node, "%s", node);
    snprintf(certificate.cluster, sizeof certificate.cluster, "%s", cluster);
    snprintf(certificate.level, sizeof certificate.level, "standard");
    certificate.expires = time(NULL) + expires_in_s;
    certificate.fingerprint = changed;
    text = certificate_format(&certificate);
    if (text == NULL || seal_make(text, strlen(text), &seal, &err) < 0 ||
        certificate_install(fixture_path("certificate"), text, seal, &err) < 0) {
        printf("Bail out! no certificate: %s\n", err.text);
        exit(255);
    }
    free(seal);
    free(text);
    free(fingerprint);
    conf_clear(&conf);
    inventory_free(inventory);
}

void put_certificate(enum state state)
{
    char text[65536];
    FILE *stream;
    size_t length;

    unlink(fixture_path("certificate"));
    if (state == MISSING)
        return;
    issue(state == COPIED ? "n3" : "n2", state == OTHER_CLUSTER ? "attic" : "lab",
          state == EXPIRED ? -60 : 3600, state == CHANGED ? "nic eth77: gone since\n" : "");
    if (state != ALTERED)
        return;
    stream = fopen(fixture_path("certificate"), "r+");
    length = fread(text, 1, sizeof text - 1, stream);
    text[length] = '\0';
    memcpy(strstr(text, "standard"), "thorough", strlen("thorough"));
    rewind(stream);
    fwrite(text, 1, length, stream);
    fclose(stream);
}

/* ---------------------------------------------------------------- begin and end */

/* The stand-in for libmunge must be found first by dlopen(), which looks at LD_LIBRARY_PATH as it
 * was when the program started. */
static void put_munge_first(char *argv[])
{
    char self[4096], *slash, link[4300];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 64);

    if (getenv("SPANK_HOST_DIRECTORY") != NULL)
        return;
    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    snprintf(slash != NULL ? slash : self, 64, "/munge.so");
    snprintf(directory, sizeof directory, "%s/muster-spank-host.XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(directory) == NULL || chmod(directory, 0755) < 0) {
        printf("Bail out! no directory for files\n");
        exit(255);
    }
    snprintf(link, sizeof link, "%s/libmunge.so.2", directory);
    if (access(self, R_OK) != 0 || symlink(self, link) != 0) {
        printf("Bail out! no %s\n", self);
        exit(255);
    }
    setenv("LD_LIBRARY_PATH", directory, 1);
    setenv("SPANK_HOST_DIRECTORY", directory, 1);
    execv("/proc/self/exe", argv);
    exit(255);
}

static void find_plugin(void)
{
    const char *top = getenv("top_builddir");

    snprintf(directory, sizeof directory, "%s", getenv("SPANK_HOST_DIRECTORY"));
    snprintf(plugin_path, sizeof plugin_path, "%s/spank/spank_muster.so", top != NULL ? top : ".");
    if (access(plugin_path, R_OK) != 0)
        tap_skip_all("no plugin in this build");
}

static void clean_up(void)
{
    static const char *const names[] = {"libmunge.so.2", "muster.conf", "certificate", "refused"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(fixture_path(names[i]));
    if (rmdir(directory) != 0)
        tap_diag("%s is not empty", directory);
}

void fixture_begin(char *argv[])
{
    put_munge_first(argv);
    find_plugin();
}

bool fixture_isolate(void)
{
    return unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("sysfs", "/sys", "sysfs", 0, NULL) == 0 &&
           mount("tmpfs", "/run", "tmpfs", 0, NULL) == 0 &&
           mount("tmpfs", "/var/lib", "tmpfs", 0, NULL) == 0 &&
           system("ip link set lo up && ip link add eth1 type veth peer name eth2 && "
                  "ip link set eth1 up && ip addr add 10.9.1.2/24 dev eth1 >/dev/null") == 0;
}

void fixture_end(void)
{
    clean_up();
}

const char *fixture_plugin(void)
{
    return plugin_path;
}

const char *fixture_directory(void)
{
    return directory;
}
