/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/certificate.h"
#include "lib/certificate/failed_rails.h"
#include "lib/certificate/refused.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char tests_lines[] = "links eth1: 196 Mb/s\nlinks eth2: 195 Mb/s \xc2\xb1 2\n";
static char fingerprint_lines[] = "kernel: 6.1.0\nnic eth1: veth - 10000Mb/s mtu 1500 up\n";

static const struct certificate good = {
    .node = "n3",
    .cluster = "lab",
    .level = "standard",
    .run = "20261120-161200-1a2b",
    .boot_id = "5c0f7a52-0000-4000-8000-000000000001",
    .issued = 1795190000,
    .expires = 1795794800,
    .tests = tests_lines,
    .fingerprint = fingerprint_lines,
};

static const char good_text[] = "muster certificate 1\n"
                                "node: n3\n"
                                "cluster: lab\n"
                                "level: standard\n"
                                "run: 20261120-161200-1a2b\n"
                                "boot: 5c0f7a52-0000-4000-8000-000000000001\n"
                                "issued: 1795190000 2026-11-20T15:53:20Z\n"
                                "expires: 1795794800 2026-11-27T15:53:20Z\n"
                                "test links eth1: 196 Mb/s\n"
                                "test links eth2: 195 Mb/s \xc2\xb1 2\n"
                                "fingerprint kernel: 6.1.0\n"
                                "fingerprint nic eth1: veth - 10000Mb/s mtu 1500 up\n";
#define GOOD_SEAL "MUNGE:AwQDAACzZ5n8vzX+cW/x0Q==:"

static const struct certificate_facts facts = {
    .node = "n3", .cluster = "lab", .fingerprint = fingerprint_lines, .now = 1795200000};

static char directory[] = "/tmp/muster-certificate-XXXXXX";
static char path[sizeof directory + 64];

/* AddressSanitizer makes each read slow: with it the test flips only one bit of each byte, another
 * bit in the next byte, and makes fewer kills. */
#ifdef __SANITIZE_ADDRESS__
enum { FLIPS_APART = 8, KILLS = 8 };
#else
enum { FLIPS_APART = 1, KILLS = 40 };
#endif

/* A replacement for MUNGE: GOOD_SEAL is genuine only for good_text. */
static int verify(const char *seal, const char *text, size_t length, struct error *err)
{
    if (strcmp(seal, GOOD_SEAL) == 0 && length == sizeof good_text - 1 &&
        memcmp(text, good_text, length) == 0)
        return 1;
    error_set(err, "the text was changed after it was sealed");
    return 0;
}

static int verify_fails(const char *seal, const char *text, size_t length, struct error *err)
{
    error_set(err, "MUNGE does not answer");
    return -1;
}

static void write_bytes(const char *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        exit(99);
    close(fd);
}

static void format_fails(const char *what, const struct certificate *certificate)
{
    char *text;

    errno = 0;
    text = certificate_format(certificate);
    ok(text == NULL && errno == EINVAL, "a certificate with %s is refused", what);
    free(text);
}

static void formats(void)
{
    char *text = certificate_format(&good);
    char long_line[CERTIFICATE_LINE + 8], *seal;
    struct certificate bad, read = {.node = ""};
    size_t length;

    is_str(text, good_text, "a certificate is formatted");
    free(text);
    bad = good;
    *bad.run = *bad.boot_id = '\0';
    bad.tests = bad.fingerprint = NULL;
    text = certificate_format(&bad);
    is_str(text,
           "muster certificate 1\nnode: n3\ncluster: lab\nlevel: standard\n"
           "issued: 1795190000 2026-11-20T15:53:20Z\nexpires: 1795794800 2026-11-27T15:53:20Z\n",
           "unknown values are left out");
    free(text);

#define REFUSES(what, change)                                                                      \
    do {                                                                                           \
        bad = good;                                                                                \
        change;                                                                                    \
        format_fails(what, &bad);                                                                  \
    } while (0)
    REFUSES("no node", *bad.node = '\0');
    REFUSES("no cluster", *bad.cluster = '\0');
    REFUSES("no level", *bad.level = '\0');
    REFUSES("a newline in the node", strcpy(bad.node, "n3\nnode: n4"));
    REFUSES("a blank in the cluster", strcpy(bad.cluster, "my lab"));
    REFUSES("a letter of another alphabet", strcpy(bad.level, "\xc3\xa9"));
    REFUSES("a name without an end", memset(bad.node, 'x', sizeof bad.node));
    REFUSES("a control character in the run", strcpy(bad.run, "r\033[2J"));
    REFUSES("a carriage return in the boot id", strcpy(bad.boot_id, "b\r"));
    REFUSES("an end before the beginning", bad.expires = bad.issued - 1);
    REFUSES("a time before 1970", bad.issued = -1);
    REFUSES("a time after 9999", bad.expires = 253402300800);
    REFUSES("a test without an end", bad.tests = (char[]){"links"});
    REFUSES("an empty test", bad.tests = (char[]){"links\n\n"});
    REFUSES("an escape in a test", bad.tests = (char[]){"links \033[2J\n"});
    REFUSES("a C1 control character", bad.tests = (char[]){"links \xc2\x9b\n"});
    REFUSES("bad UTF-8", bad.fingerprint = (char[]){"nic \xff\n"});
    REFUSES("a cut character", bad.fingerprint = (char[]){"nic \xe2\x82\n"});
    REFUSES("an overlong character", bad.fingerprint = (char[]){"nic \xe0\x80\xaf\n"});
    memset(long_line, 'x', sizeof long_line);
    strcpy(long_line + sizeof long_line - 2, "\n");
    REFUSES("an overlong line", bad.tests = long_line);
    bad = good;
    strcpy(bad.node, "n~");
    bad.expires = 253402300799;
    strcpy(long_line + CERTIFICATE_LINE - strlen("test "), "\n");
    bad.tests = long_line;
    text = certificate_format(&bad);
    if (ok(text != NULL, "the last letter, the last second and the longest line are allowed"))
        is_int(certificate_parse(text, &read, &seal, &length, NULL), 0, "... and parsed");
    certificate_clear(&read);
    free(text);
}

static void parse_fails(const char *text, const char *message)
{
    struct certificate certificate;
    struct error err = {""};
    size_t length;
    char *seal;

    is_int(certificate_parse(text, &certificate, &seal, &length, &err), -1, "refused: %s", message);
    has_str(err.text, message, "... with this message");
    certificate_clear(&certificate);
    free(seal);
}

static void parses(void)
{
    struct certificate certificate;
    struct error err = {""};
    size_t length;
    char *seal, *text, *large, line[128], expected[128];

    is_int(certificate_parse(good_text, &certificate, &seal, &length, &err), 0,
           "the text is parsed without a seal (%s)", err.text);
    ok(seal == NULL, "... and no seal is returned");
    is_int(length, strlen(good_text), "... and the sealed part is the whole text");
    text = certificate_format(&certificate);
    is_str(text, good_text, "... and is formatted to the same text");
    is_str(certificate.tests, tests_lines, "... with its tests");
    is_str(certificate.fingerprint, fingerprint_lines, "... with its fingerprint");
    is_int(certificate.expires, good.expires, "... and with its expiry");
    free(text);
    certificate_clear(&certificate);
    if (asprintf(&text, "%sseal: %s\n", good_text, GOOD_SEAL) < 0)
        exit(99);
    is_int(certificate_parse(text, &certificate, &seal, &length, &err), 0,
           "the text is parsed with a seal (%s)", err.text);
    is_str(seal, GOOD_SEAL, "... which is returned");
    is_int(length, strlen(good_text), "... and is not in the sealed text");
    certificate_clear(&certificate);
    certificate_clear(NULL);
    free(seal);
    free(text);

    parse_fails("", "line 1: found \"\", expected \"muster certificate 1\"");
    snprintf(line, sizeof line, "%0*d", (int)sizeof line - 1, 0);
    snprintf(expected, sizeof expected, "line 1: found \"%060d...\", expected", 0);
    parse_fails(line, expected);
    parse_fails("muster certificate 2\n", "line 1: found \"muster certificate 2\"");
    parse_fails("muster certificate 1 \n", "line 1: found");
    parse_fails("muster certificate 1\n\033[31mnode: n3\n", "line 2: found \"?[31mnode: n3\"");
    parse_fails("muster certificate 1\nnode: n3\nlevel: x\n",
                "line 3: found \"level: x\", expected "
                "\"cluster: \"");
    parse_fails("muster certificate 1\nnode: n 3\n", "line 2: found");
    parse_fails("muster certificate 1\nnode: "
                "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n",
                "a word of at most 63 letters");
#define HEAD "muster certificate 1\nnode: n3\ncluster: lab\nlevel: x\n"
#define TIMES "issued: 0 1970-01-01T00:00:00Z\nexpires: 0 1970-01-01T00:00:00Z\n"
    parse_fails(HEAD "issued: 1 1970-01-01T00:00:00Z\n", "line 5: found");
    parse_fails(HEAD "issued: 00 1970-01-01T00:00:00Z\n", "line 5: found");
    parse_fails(HEAD "issued: +0 1970-01-01T00:00:00Z\n", "line 5: found");
    parse_fails(HEAD "issued: 99999999999999999999 x\n", "line 5: found");
    parse_fails(HEAD "issued: 1 1970-01-01T00:00:01Z\nexpires: 0 1970-01-01T00:00:00Z\n",
                "expected a time after the time of issue");
    parse_fails(HEAD TIMES "seal: MUNGE:AAAA:", "line 7: found");
    parse_fails(HEAD TIMES "seal: MUNGE:AA AA:\n", "line 7: found");
    parse_fails(HEAD TIMES "seal: AAAA\n", "line 7: found");
    parse_fails(HEAD TIMES "seal: MUNGE:AAAA:\n\n", "line 8: found");
    parse_fails(HEAD TIMES "seal: MUNGE:AAAA:\nseal: MUNGE:AAAA:\n", "line 8: found");
    parse_fails(HEAD TIMES "fingerprint a\ntest b\n", "line 8: found \"test b\"");
    parse_fails(HEAD TIMES "test \n", "line 7: found");
    parse_fails(HEAD TIMES "\n", "line 7: found");
    parse_fails(HEAD "run: \n" TIMES, "line 5: found");
    large = malloc(2 * CERTIFICATE_MAX);
    strcpy(large, HEAD TIMES);
    while (strlen(large) < CERTIFICATE_MAX)
        strcat(large, "test 0123456789012345678901234567890123456789012345678901234567890123\n");
    parse_fails(large, "found more than 262144 bytes");
    free(large);
}

static enum certificate_state check(seal_verify_fn *by, const struct certificate_facts *against,
                                    char message[512])
{
    return certificate_check(path, geteuid(), against, by, NULL, message, 512);
}

static void state_is(enum certificate_state expected, seal_verify_fn *by,
                     const struct certificate_facts *against, const char *message,
                     const char *description)
{
    char found[512];
    enum certificate_state state = check(by, against, found);

    is_str(certificate_state_name(state), certificate_state_name(expected), "%s", description);
    has_str(found, message, "... with this message");
}

static void install_good(void)
{
    struct error err = {""};

    is_int(certificate_install(path, good_text, GOOD_SEAL, &err), 0,
           "a certificate is installed "
           "(%s)",
           err.text);
}

static void names_states(void)
{
    struct certificate_facts other;
    struct certificate certificate;
    struct error err;
    char message[512], *altered;
    struct stat status;

    state_is(CERTIFICATE_MISSING, verify, &facts, "there is no certificate",
             "a certificate that is not installed is missing");
    install_good();
    is_int(stat(path, &status), 0, "... at its path");
    if (geteuid() == 0) { /* only certificates of root count */
        is_int(certificate_issued(path, NULL), good.issued, "its time of issue is known");
        is_int(certificate_issued(path, good.boot_id), good.issued,
               "... for the boot of its issue");
        is_int(certificate_issued(path, "another"), 0, "... but not for another boot");
    } else {
        tap_skip("only root's certificates count");
    }
    is_int(status.st_mode & 07777, 0644, "... readable by all");
    state_is(CERTIFICATE_VALID, verify, &facts, "level standard, expires on 2026-11-27 15:53:20",
             "an unchanged certificate is valid");
    is_int(
        certificate_check(path, geteuid(), &facts, verify, &certificate, message, sizeof message),
        CERTIFICATE_VALID, "a valid certificate is returned");
    is_str(certificate.node, "n3", "... with its node");
    certificate_clear(&certificate);
    state_is(CERTIFICATE_UNVERIFIED, verify_fails, &facts,
             "cannot verify the seal: MUNGE does not answer",
             "a certificate is unverified if munged does not answer");

    other = facts;
    other.node = "n4";
    state_is(CERTIFICATE_INVALID, verify, &other, "to node n3, this is n4",
             "a certificate of another node is invalid");
    other.node = "";
    other.cluster = NULL;
    other.fingerprint = NULL;
    state_is(CERTIFICATE_VALID, verify, &other, "level",
             "a certificate is valid if there are no facts to compare");
    other = facts;
    other.cluster = "prod";
    state_is(CERTIFICATE_INVALID, verify, &other, "to cluster lab, this is prod",
             "a certificate of another cluster is invalid");
    other = facts;
    other.now = good.expires - 1;
    state_is(CERTIFICATE_VALID, verify, &other, "level",
             "a certificate is valid in its last second");
    other.now = good.expires;
    state_is(CERTIFICATE_EXPIRED, verify, &other, "expired on 2026-11-27 15:53:20 UTC",
             "... and expired after it");
    other.now = good.issued - CERTIFICATE_CLOCK_SLACK_S;
    state_is(CERTIFICATE_VALID, verify, &other, "level",
             "a certificate is valid if the clock is slow by the tolerance");
    other.now--;
    state_is(CERTIFICATE_UNVERIFIED, verify, &other, "in the future; check this node's clock",
             "... and unverified if the clock is slower");
    other = facts;
    other.fingerprint = "kernel: 6.1.0\nnic eth1: veth - 10000Mb/s mtu 9000 up\n";
    state_is(CERTIFICATE_CHANGED, verify, &other,
             "nic eth1: was ... mtu 1500 up, is ... mtu 9000 up", "another MTU is a change");

    altered = strdup(good_text);
    memcpy(strstr(altered, "196"), "197", 3);
    is_int(certificate_install(path, altered, GOOD_SEAL, &err), 0,
           "a certificate with one byte of a test changed is installed");
    state_is(CERTIFICATE_INVALID, verify, &facts, "the text was changed after it was sealed",
             "... and its seal shows the change");
    free(altered);

    is_int(certificate_remove(path, 0, &err), 0, "a certificate is removed");
    state_is(CERTIFICATE_MISSING, verify, &facts, "there is no certificate",
             "a removed certificate is missing");
    is_int(certificate_remove(path, 0, &err), 1, "... which cannot be removed again");
}

static void unsafe_files_are_invalid(void)
{
    char target[sizeof path + 8], message[512];
    char *large = calloc(1, CERTIFICATE_MAX + 1);

    install_good();
    chmod(path, 0664);
    state_is(CERTIFICATE_INVALID, verify, &facts, "is writable by others (mode 0664)",
             "a certificate that its group may write to is invalid");
    chmod(path, 0646);
    state_is(CERTIFICATE_INVALID, verify, &facts, "is writable by others (mode 0646)",
             "a certificate that all may write to is invalid");
    chmod(path, 0644);
    is_int(certificate_check(path, geteuid() + 1, &facts, verify, NULL, message, sizeof message),
           CERTIFICATE_INVALID, "a certificate of another owner is invalid");
    snprintf(target, sizeof target, "%s.real", path);
    rename(path, target);
    is_int(symlink(target, path), 0, "a symbolic link to the certificate");
    state_is(CERTIFICATE_INVALID, verify, &facts, "is a symbolic link", "... is invalid");
    unlink(path);
    rename(target, path);

    chmod(directory, 0777);
    state_is(CERTIFICATE_INVALID, verify, &facts, "is writable by others (mode 0777)",
             "a certificate in a directory that all may write to is invalid");
    is_int(certificate_install(path, good_text, GOOD_SEAL, NULL), -1,
           "... and none is installed there");
    chmod(directory, 01777);
    state_is(CERTIFICATE_VALID, verify, &facts, "level",
             "... but it is valid if the directory is sticky");
    chmod(directory, 0755);
    if (geteuid() == 0) {
        is_int(chown(directory, 12345, 0), 0, "the directory gets another owner");
        state_is(CERTIFICATE_INVALID, verify, &facts, "belongs to uid 12345",
                 "... and the certificate is invalid");
        is_int(chown(directory, 0, 0), 0, "root is the owner again");
        is_int(chown(path, 12345, 0), 0, "the certificate gets another owner");
        state_is(CERTIFICATE_INVALID, verify, &facts, "belongs to uid 12345, expected uid 0",
                 "... and is invalid");
        is_int(chown(path, 0, 0), 0, "root is the owner again");
    } else {
        tap_skip("only root can give files away");
    }

    unlink(path);
    is_int(mkfifo(path, 0644), 0, "a FIFO takes the path");
    state_is(CERTIFICATE_INVALID, verify, &facts, "is not a regular file",
             "... and is invalid, without waiting");
    is_int(certificate_remove(path, 0, NULL), -1, "... and is not removed");
    unlink(path);
    write_bytes("SlurmctldHost=head\n", 19);
    is_int(certificate_remove(path, 0, NULL), -1,
           "a file that is not a certificate is not removed");
    write_bytes("muster certificate 1\nnode: n", 28);
    is_int(certificate_remove(path, 0, NULL), 0, "half a certificate is removed");
    write_bytes("", 0);
    is_int(certificate_remove(path, 0, NULL), 0, "an empty file is removed");
    is_int(mkdir(path, 0755), 0, "a directory takes the path");
    state_is(CERTIFICATE_INVALID, verify, &facts, "is not a regular file", "... is invalid");
    is_int(certificate_install(path, good_text, GOOD_SEAL, NULL), -1, "... and is not replaced");
    rmdir(path);
    memset(large, '\n', CERTIFICATE_MAX + 1);
    write_bytes(large, CERTIFICATE_MAX);
    state_is(CERTIFICATE_INVALID, verify, &facts, "is not a certificate: line 1",
             "a file of the longest size is parsed");
    write_bytes(large, CERTIFICATE_MAX + 1);
    state_is(CERTIFICATE_INVALID, verify, &facts, "has 262145 bytes",
             "a file longer by one byte is invalid");
    write_bytes("muster certificate 1\n\0node", 25);
    state_is(CERTIFICATE_INVALID, verify, &facts, "found a NUL byte",
             "a file with a NUL byte is invalid");
    write_bytes("muster certificate 2\nhost: n3\n", 30);
    state_is(CERTIFICATE_UNVERIFIED, verify, &facts, "is the certificate of a newer muster",
             "a certificate of a later format is unverified");
    write_bytes("muster certificate 0\nnode: n3\n", 30);
    state_is(CERTIFICATE_INVALID, verify, &facts, "is not a certificate: line 1",
             "... but not any other title");
    write_bytes(good_text, strlen(good_text));
    state_is(CERTIFICATE_INVALID, verify, &facts, "has no seal",
             "a certificate without a seal is invalid");
    write_bytes("", 0);
    state_is(CERTIFICATE_INVALID, certificate_ignore_seal, &facts, "is not a certificate",
             "an empty file is invalid");
    unlink(path);
    free(large);
}

/* Checks every truncation and every change of a byte. certificate_ignore_seal exercises the checks
 * after the seal. */
static void every_change_is_detected(void)
{
    char whole[sizeof good_text + 128], changed[sizeof whole], message[512];
    size_t length = (size_t)sprintf(whole, "%sseal: %s\n", good_text, GOOD_SEAL);
    unsigned wrong = 0, accepted = 0, parsed = 0;

    for (size_t cut = 0; cut < length; cut++) {
        write_bytes(whole, cut);
        wrong += check(verify, &facts, message) != CERTIFICATE_INVALID;
        accepted += check(certificate_ignore_seal, &facts, message) == CERTIFICATE_VALID;
    }
    is_int(wrong, 0, "each of %zu truncations is invalid", length);
    is_int(accepted, 0, "... also if every seal counts as genuine");
    for (size_t at = 0; at < length; at++)
        for (int bit = (int)(at % FLIPS_APART); bit < 8; bit += FLIPS_APART) {
            memcpy(changed, whole, length);
            changed[at] ^= (char)(1 << bit);
            write_bytes(changed, length);
            wrong += check(verify, &facts, message) == CERTIFICATE_VALID;
            check(certificate_ignore_seal, &facts, message);
        }
    is_int(wrong, 0, "no file with one bit flipped is valid (1 of %d bits of each byte tested)",
           FLIPS_APART);
    for (size_t at = 0; at < length; at++)
        for (int byte = 1; byte < 256; byte++) {
            struct certificate certificate;
            size_t sealed;
            char *seal, *again;

            memcpy(changed, whole, length + 1);
            changed[at] = (char)byte;
            if (certificate_parse(changed, &certificate, &seal, &sealed, NULL) != 0)
                continue;
            parsed++;
            again = certificate_format(&certificate);
            wrong += !again || strlen(again) != sealed || memcmp(again, changed, sealed) != 0;
            wrong += byte != (unsigned char)whole[at] && seal &&
                     verify(seal, changed, sealed, NULL) == 1;
            free(again);
            free(seal);
            certificate_clear(&certificate);
        }
    is_int(wrong, 0,
           "a text with one byte changed is either refused, or formatted to the same text and not "
           "sealed");
    ok(parsed > length, "... %u of them could be parsed", parsed);
    unlink(path);
}

static void refuses_to_install(const char *text, const char *seal, const char *message)
{
    struct error err = {""};

    is_int(certificate_install(path, text, seal, &err), -1, "not installed: %s", message);
    has_str(err.text, message, "... with this message");
    ok(access(path, F_OK) != 0, "... and no file is made");
}

static void installs_safely(void)
{
    struct error err = {""};
    char deep[sizeof path + 32], name[sizeof path + 32], unterminated[sizeof good_text];
    struct stat status;
    mode_t mask = umask(077);

    refuses_to_install("hello\n", GOOD_SEAL, "line 1: found \"hello\"");
    refuses_to_install(good_text, "MUNGE:A\nnode: n4:", "expected \"seal: MUNGE:\"");
    refuses_to_install(good_text, "", "expected \"seal: MUNGE:\"");
    snprintf(unterminated, sizeof unterminated, "%.*s", (int)strlen(good_text) - 1, good_text);
    refuses_to_install(unterminated, GOOD_SEAL, "the text does not end in a newline");
    snprintf(deep, sizeof deep, "%s/lib/muster/certificate", directory);
    is_int(certificate_install(deep, good_text, GOOD_SEAL, &err), -1,
           "a path with two missing directories");
    has_str(err.text, "No such file", "... is an error");
    snprintf(deep, sizeof deep, "%s/lib/certificate", directory);
    is_int(certificate_install(deep, good_text, GOOD_SEAL, &err), 0,
           "one missing directory is made (%s)", err.text);
    is_int(stat(deep, &status), 0, "... with the file");
    is_int(status.st_mode & 07777, 0644, "... readable by all under any umask");
    *strrchr(deep, '/') = '\0';
    is_int(stat(deep, &status), 0, "... and the directory");
    is_int(status.st_mode & 07777, 0755, "... which all may enter");
    umask(mask);
    strcat(deep, "/certificate");
    is_int(certificate_remove(deep, 0, &err), 0, "the certificate is removed (%s)", err.text);
    *strrchr(deep, '/') = '\0';
    is_int(rmdir(deep), 0, "... and its directory is empty");

    /* the file that a killed install left is neither followed nor in the way */
    snprintf(name, sizeof name, "%s/.certificate.new", directory);
    is_int(symlink("/tmp/muster-elsewhere", name), 0,
           "a symbolic link takes the name of the temporary file");
    is_int(certificate_install(path, good_text, GOOD_SEAL, &err), -1, "... is not followed");
    unlink(name);
    close(open(name, O_WRONLY | O_CREAT, 0600));
    is_int(certificate_remove(path, 0, &err), 1,
           "the temporary file of a killed install is not a certificate");
    ok(access(name, F_OK) != 0, "... and is removed");
    close(open(name, O_WRONLY | O_CREAT, 0600));
    is_int(truncate(name, 100000), 0, "a killed install leaves a large temporary file");
    install_good();
    state_is(CERTIFICATE_VALID, verify, &facts, "level",
             "a certificate is valid if a killed install left a temporary file");
    ok(access(name, F_OK) != 0, "... which is gone");
    unlink(path);
}

/* Installs, without end, a certificate with number * 40 test lines. */
static void install_forever(int number)
{
    struct certificate certificate = good;
    char *text;

    certificate.tests = malloc(20000);
    *certificate.tests = '\0';
    for (int i = 0; i < number * 40; i++)
        strcat(certificate.tests, "links eth1: 196 Mb/s\n");
    text = certificate_format(&certificate);
    for (;;)
        certificate_install(path, text, GOOD_SEAL, NULL);
}

static void survives_kills(void)
{
    enum { CHILDREN = 4 };
    pid_t children[CHILDREN] = {0};
    unsigned bad = 0, reads = 0;
    char message[512];

    install_good();
    for (int round = 0; round < KILLS; round++) {
        int child = round % CHILDREN;

        if (children[child]) {
            kill(children[child], SIGKILL);
            waitpid(children[child], NULL, 0);
        }
        children[child] = fork();
        if (children[child] == 0)
            install_forever(child + 1);
        for (int i = 0; i < 50; i++, reads++)
            if (check(certificate_ignore_seal, &facts, message) != CERTIFICATE_VALID && bad++ == 0)
                tap_diag("%s", message);
        usleep((useconds_t)(random() % 3000));
    }
    for (int i = 0; i < CHILDREN; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    is_int(bad, 0,
           "four processes install and are killed: each of %u reads finds a complete certificate",
           reads);
    install_good();
    state_is(CERTIFICATE_VALID, verify, &facts, "level",
             "... and afterwards another one is installed");
    is_int(certificate_remove(path, 0, NULL), 0, "... and removed");
}

/* A removal that has read the time of issue while another process installs a newer certificate. */
static void keeps_what_was_issued_later(void)
{
    struct certificate newer = good;
    char name[sizeof path + 32], *text;
    int fd, status = 0;
    pid_t child;

    if (geteuid() != 0) { /* only certificates of root count */
        tap_skip("only root's certificates count");
        return;
    }
    install_good();
    is_int(certificate_remove(path, good.issued - 1, NULL), 2, "a later certificate is kept");
    newer.issued++;
    text = certificate_format(&newer);
    snprintf(name, sizeof name, "%s/.certificate.new", directory);
    fd = open(name, O_WRONLY | O_CREAT, 0600); /* as certificate_install() begins */
    flock(fd, LOCK_EX);
    child = fork();
    if (child == 0) {
        close(fd);
        _exit(certificate_remove(path, good.issued, NULL));
    }
    usleep(100000);
    dprintf(fd, "%sseal: %s\n", text, GOOD_SEAL);
    rename(name, path);
    close(fd);
    free(text);
    waitpid(child, &status, 0);
    is_int(WEXITSTATUS(status), 2, "... also if it is installed meanwhile");
    is_int(certificate_remove(path, newer.issued, NULL), 0, "... and removed at its own time");
    is_int(certificate_remove(path, newer.issued, NULL), 1, "... only once");
    write_bytes("muster certificate 2\nhost: n3\n", 30);
    is_int(certificate_remove(path, newer.issued, NULL), 2,
           "a newer format, in which the time cannot be read, is kept");
    is_int(certificate_remove(path, 0, NULL), 0, "... unless all are to be removed");
}

static void names_failed_rails(void)
{
    char tests[] = "check: pass\nlinks eth1: 196 Mb/s\nlinks eth2: 49 Mb/s rail_slow\n"
                   "links mlx5_0:1: 3 Mb/s failed\ncollectives: failed\nlinks failed\n"
                   "links eth3: unusable rail_fault\nlinks eth4: 9 Mb/s of_a_newer_muster\n",
         longest[200];
    struct certificate certificate = {.tests = tests, .issued = 1795190000};
    struct failed_rails failed;

    is_int(failed_rails_of(&certificate, &failed), 0, "the failed rails of a certificate are read");
    if (is_int(failed.rails.count, 4, "... four of them")) {
        is_str(failed.rails.names[0], "eth2", "... eth2");
        is_str(failed.rails.names[1], "mlx5_0:1", "... one with a colon, from an older muster");
        is_str(failed.rails.names[2], "eth3", "... one without a value");
        is_str(failed.rails.names[3], "eth4", "... and one with an unknown code");
    }
    is_str(failed.why, "failed certification 2026-11-20", "... with the date of the certificate");
    failed_rails_clear(&failed);
    snprintf(longest, sizeof longest, "links %063d: failed\nlinks %064d: failed\n", 1, 2);
    certificate.tests = longest;
    failed_rails_of(&certificate, &failed);
    is_int(failed.rails.count, 1, "a name longer than a rail's is left out");
    failed_rails_clear(&failed);
    certificate.tests = NULL;
    failed_rails_of(&certificate, &failed);
    is_int(failed.rails.count, 0, "a certificate without tests has no failed rails");
    failed_rails_clear(&failed);
}

/* Returns the number of failed rails of the certificate at certificate_path; allowed is
 * AllowFailedRails. */
static size_t failed_at(const char *certificate_path, int allowed)
{
    struct conf conf;
    struct failed_rails failed;
    size_t count;

    conf_defaults(&conf);
    conf.allow_failed_rails = allowed;
    snprintf(conf.certificate_path, sizeof conf.certificate_path, "%s", certificate_path);
    failed_rails_read(&conf, &failed);
    count = failed.rails.count;
    failed_rails_clear(&failed);
    conf_clear(&conf);
    return count;
}

static void reads_failed_rails(void)
{
    char tests[] = "links eth1: 196 Mb/s\nlinks eth2: 49 Mb/s rail_slow\n";
    struct certificate certificate = good;
    struct error err;
    char *text;

    certificate.tests = tests;
    certificate.issued = time(NULL) - 7200;
    certificate.expires = time(NULL) - 3600;
    text = certificate_format(&certificate);
    if (certificate_install(path, text, GOOD_SEAL, &err) != 0)
        exit(99);
    free(text);
    if (geteuid() == 0) { /* only certificates of root count */
        is_int(failed_at(path, 1), 1, "a failed rail counts, also in an expired certificate");
        is_int(failed_at(path, 0), 0, "... but not if the site allows no failed rails");
        is_int(chown(path, 12345, 0), 0, "the certificate gets another owner");
        is_int(failed_at(path, 1), 0, "... and names no failed rails");
    } else {
        tap_skip("only root's certificates count");
    }
    unlink(path);
}

/* Makes an empty file in the directory, with this time of modification. */
static void file_make(const char *name, time_t time_s)
{
    char file[sizeof path];
    int fd;

    snprintf(file, sizeof file, "%s/%s", directory, name);
    fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    futimens(fd, (struct timespec[]){{time_s, 0}, {time_s, 0}});
    close(fd);
}

/* Removes a file of the directory. Returns whether it existed. */
static bool file_remove(const char *name)
{
    char file[sizeof path];

    snprintf(file, sizeof file, "%s/%s", directory, name);
    return unlink(file) == 0;
}

static void refusal_note_is_kept(void)
{
    char line[128];
    time_t when = 0;

    is_int(refused_read(path, &when, line, sizeof line), -1,
           "there is no note if no job was refused");
    is_int(refused_read("certificate", &when, line, sizeof line), -1,
           "... nor for a certificate path without a directory");
    refused_write(path, "n3: certificate missing\033[2J: job 12 refused");
    if (geteuid() == 0) {
        is_int(refused_read(path, &when, line, sizeof line), 0,
               "the note of the last refusal is read");
        is_str(line, "n3: certificate missing?[2J: job 12 refused",
               "... with unprintable bytes replaced");
        ok(time(NULL) - when < 60 && when <= time(NULL), "... and its time");
    }
    file_make("refused.0123abcd", 1764090000);
    file_make("refused.89abcdef", time(NULL));
    file_make("brake.0123abcd", 1764090000);
    refused_write(path, "n3: certificate missing: job 13 refused");
    ok(!file_remove("refused.0123abcd"),
       "the next note removes the temporary file of a killed process");
    ok(file_remove("refused.89abcdef"), "... but not a young one, which may be in use");
    ok(file_remove("brake.0123abcd"), "... nor that of another file");
    refused_remove(path);
    is_int(refused_read(path, &when, line, sizeof line), -1, "refused_remove() removes the note");
    ok(refused_explains(1000, 1002), "a refusal explains a drain right after it");
    ok(refused_explains(1000 + REFUSED_CLOCK_SLACK_S, 1000) &&
           refused_explains(1000, 1000 + REFUSED_CLOCK_SLACK_S),
       "... also if the clocks differ by the tolerance");
    ok(!refused_explains(1000, 1001 + REFUSED_CLOCK_SLACK_S), "... but not a later drain");
    ok(!refused_explains(1001 + REFUSED_CLOCK_SLACK_S, 1000), "... nor an earlier drain");
}

static void knows_levels(void)
{
    is_int(certificate_level("quick"), 1, "quick has rank 1");
    is_int(certificate_level("standard"), 2, "standard has rank 2");
    is_int(certificate_level("full"), 3, "full has rank 3");
    is_int(certificate_level("fuller"), 0, "an unknown level has rank 0");
    for (int level = 1; level <= 3; level++)
        is_int(certificate_level(certificate_level_name(level)), level,
               "the rank of %s has this name", certificate_level_name(level));
}

static int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(void)
{
    int descriptors = open_descriptors();

    knows_levels();
    names_failed_rails();
    if (!mkdtemp(directory))
        return 99;
    snprintf(path, sizeof path, "%s/certificate", directory);
    refusal_note_is_kept();
    reads_failed_rails();
    formats();
    parses();
    names_states();
    unsafe_files_are_invalid();
    every_change_is_detected();
    installs_safely();
    survives_kills();
    keeps_what_was_issued_later();
    is_int(rmdir(directory), 0, "no file is left behind");
    is_int(open_descriptors(), descriptors, "... and no descriptor is open");
    is_str(certificate_state_name(CERTIFICATE_UNVERIFIABLE + 1), "unknown",
           "an unknown state has the name unknown");
    return tap_done();
}
