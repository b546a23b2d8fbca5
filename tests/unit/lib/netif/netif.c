/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/node_constants.h"
#include "lib/netif/netif_apply.h"
#include "lib/netif/netif_notes.h"
#include "tests/unit/lib/netif/netif_fake.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Interface lines, the journal's text and the decisions. netif_kill.c tests killed processes. */

static char directory[] = "/tmp/muster-netif-XXXXXX";
static char path[64];

/* ---------------------------------------------------------------- lines */

static void reads_lines(void)
{
    struct netif_line line;
    struct error err = {""};
    char *text = NULL;
    size_t length;
    FILE *stream;

    is_int(
        netif_line_parse("eth[1-2],ib0 up=yes MTU=9000\ttxqueuelen=10000 rx-ring=4096 tx-ring=64 "
                         "arp_ignore=1 arp_announce=2 arp_filter=1 rp_filter=2 accept_local=1 "
                         "roce-mode=V2 roce-tos=106 traffic-class=106 DSCP48=None dscp26=3 pfc=4+3 "
                         "address=10.1.0.0/16",
                         &line, &err),
        0, "a line with every setting is read (%s)", err.text);
    is_int(line.interfaces.count, 3, "... its interfaces");
    is_int(line.values[NETIF_MTU], 9000, "... a number, with the name in capitals");
    is_int(line.values[NETIF_ROCE_MODE], 2, "... a word");
    is_int(line.values[NETIF_UP], 1, "... up");
    is_int(line.values[NETIF_TRAFFIC_CLASS], 106, "... a traffic class");
    is_int(line.values[NETIF_PFC], 0x18, "... priorities");
    is_int(line.values[NETIF_DSCP + 26], 0x08, "... the priority of a DSCP");
    is_int(line.given[NETIF_DSCP + 48], 1, "... none for a DSCP");
    is_int(line.given[NETIF_DSCP + 47], 0, "... and no value for another DSCP");
    stream = open_memstream(&text, &length);
    netif_line_print(&line, stream);
    fclose(stream);
    is_str(text,
           "eth[1-2],ib0 rx-ring=4096 tx-ring=64 txqueuelen=10000 mtu=9000 arp_ignore=1 "
           "arp_announce=2 arp_filter=1 rp_filter=2 accept_local=1 roce-mode=v2 roce-tos=106 "
           "traffic-class=106 pfc=3+4 dscp26=3 dscp48=none up=yes address=10.1.0.0/16",
           "... printed in the order in which the settings are made");
    netif_line_clear(&line);
    is_int(netif_line_parse(text, &line, &err), 0, "... and read again");
    netif_line_clear(&line);
    free(text);
    is_int(netif_line_parse("eth1 traffic-class=none", &line, &err), 0,
           "traffic-class=none is read");
    is_int(line.values[NETIF_TRAFFIC_CLASS], -1, "... as -1");
    netif_line_clear(&line);
}

static void refuses_line(const char *text, const char *message)
{
    struct netif_line line;
    struct error err = {""};

    is_int(netif_line_parse(text, &line, &err), -1, "refused: \"%s\"", text);
    has_str(err.text, message, "... %s", message);
    is_int(line.interfaces.count, 0, "... and the line is empty");
}

static void refuses_lines(void)
{
    refuses_line("", "found \"\", expected names of interfaces and settings");
    refuses_line("eth1", "found no setting, allowed rx-ring=1-1048576");
    refuses_line("eth1 mtu", "found \"mtu\", allowed rx-ring=");
    refuses_line("eth1 mtuu=9000", "found \"mtuu\", allowed rx-ring=");
    refuses_line("eth1 roce-config=yes", "found \"roce-config\", allowed");
    refuses_line("eth1 mtu=1279", "found mtu=\"1279\", allowed 1280-65535");
    refuses_line("eth1 mtu=9000x", "found mtu=\"9000x\"");
    refuses_line("eth1 mtu=-9000", "found mtu=\"-9000\"");
    refuses_line("eth1 mtu=", "found mtu=\"\"");
    refuses_line("eth1 mtu=99999999999999999999", "found mtu=\"9999");
    refuses_line("eth1 mtu=9000 mtu=9000", "found mtu twice");
    refuses_line("eth1 up=no", "found up=\"no\", allowed yes");
    refuses_line("eth1 roce-mode=2", "found roce-mode=\"2\", allowed v1|v2");
    refuses_line("eth1 rp_filter=3", "found rp_filter=\"3\", allowed 0-2");
    refuses_line("eth1 traffic-class=256", "found traffic-class=\"256\", allowed none|0-255");
    refuses_line("eth1 traffic-class=-1", "found traffic-class=\"-1\"");
    refuses_line("eth1 pfc=8", "found pfc=\"8\", allowed none|0-7[+0-7...]");
    refuses_line("eth1 pfc=3+3", "found pfc=\"3+3\"");
    refuses_line("eth1 pfc=3+", "found pfc=\"3+\"");
    refuses_line("eth1 pfc=", "found pfc=\"\"");
    refuses_line("eth1 pfc=34", "found pfc=\"34\"");
    refuses_line("eth1 dscp26=3+4", "found dscp26=\"3+4\", allowed none|0-7");
    refuses_line("eth1 dscp64=3", "found \"dscp64\", allowed rx-ring=");
    refuses_line("eth1 dscp=3", "found \"dscp\", allowed rx-ring=");
    refuses_line("eth1 dscp26=3 dscp26=4", "found dscp26 twice");
    refuses_line("eth1 dscp26", "dscp0...dscp63=none|0-7");
    refuses_line("eth1 address=here", "found address=\"here\", allowed require");
    refuses_line("eth1 address=10.1.0.0/33", "found address=");
    refuses_line("eth1,eth1 mtu=9000", "found \"eth1\" twice");
    refuses_line("../eth1 mtu=9000", "found \"../eth1\", allowed the name of an interface");
    refuses_line(".. mtu=9000", "found \"..\"");
    refuses_line("all rp_filter=2", "found \"all\"");
    refuses_line("eth1234567890123 mtu=9000", "found \"eth1234567890123\"");
    refuses_line("eth[1-300] mtu=9000", "found 300 interfaces, allowed 1 to 256");
    refuses_line("eth[1- mtu=9000", "has a [");
}

static bool matches(const char *wanted, int family, const char *address)
{
    unsigned char bytes[16];

    return inet_pton(family, address, bytes) == 1 && netif_address_matches(wanted, family, bytes);
}

static void matches_addresses(void)
{
    ok(matches("require", AF_INET, "10.1.0.3"), "an IPv4 address matches require");
    ok(matches("require", AF_INET6, "2001:db8::1"), "... an IPv6 address too");
    ok(!matches("require", AF_INET6, "fe80::1"), "... but not a link-local one");
    ok(matches("10.1.0.0/16", AF_INET, "10.1.255.3"), "an address inside a prefix matches");
    ok(!matches("10.1.0.0/16", AF_INET, "10.2.0.3"), "... and one outside does not");
    ok(matches("10.1.128.0/17", AF_INET, "10.1.128.3"),
       "an address inside a prefix of odd length matches");
    ok(!matches("10.1.128.0/17", AF_INET, "10.1.127.3"), "... and one outside does not");
    ok(matches("0.0.0.0/0", AF_INET, "10.2.0.3"), "0.0.0.0/0 matches all addresses of its family");
    ok(!matches("0.0.0.0/0", AF_INET6, "2001:db8::1"), "... and none of the other family");
    ok(matches("10.1.0.3", AF_INET, "10.1.0.3"),
       "an address without a prefix length matches itself");
    ok(matches("2001:db8::/32", AF_INET6, "2001:db8:7::1"),
       "an address inside an IPv6 prefix matches");
}

/* ---------------------------------------------------------------- the journal */

#define HEAD "muster-interfaces 1\nboot 571a17f9-6ccc\n"

static void refuses_journal(const char *text, const char *message)
{
    struct netif_journal journal;
    struct error err = {""};

    is_int(journal_parse(text, &journal, &err), -1, "a journal is refused: %s", message);
    has_str(err.text, message, "... with this message");
    is_int(journal.count, 0, "... and the journal is empty");
}

static void reads_journals(void)
{
    static const char text[] = HEAD "eth1 3 mtu was 1500 set 9000,4000 jobs 12,13\n"
                                    "eth1 3 up was no set yes jobs -\n"
                                    "eth2 4 roce-mode was v1 set v2 jobs 0\nend 3\n";
    struct netif_journal journal;
    struct error err = {""};
    char *again;

    is_int(journal_parse(text, &journal, &err), 0, "a journal is read (%s)", err.text);
    is_int(journal.count, 3, "... its entries");
    is_int(journal.entries[0].job_count, 2, "... their jobs");
    is_int(journal.entries[0].set[1], 4000, "... what was set");
    is_int(journal.entries[1].was, 0, "... and the former value");
    again = journal_format(&journal);
    is_str(again, text, "... formatted to the same text");
    free(again);
    journal_clear(&journal);

    for (size_t length = 0; length + 1 < sizeof text; length++) {
        char part[sizeof text] = "";
        int status;

        memcpy(part, text, length);
        status = journal_parse(part, &journal, &err);
        if (status != -1)
            break;
        if (length + 2 == sizeof text)
            ok(1, "a journal cut off after any byte is refused");
    }
    refuses_journal("", "it has no end");
    refuses_journal("eth1 3 mtu was 1500 set 9000 jobs 12\nend 1\n", "line 1: found no \"muster");
    refuses_journal("muster-interfaces 1\nboot ../x\nend 0\n", "line 2: found no boot id");
    refuses_journal(HEAD "end 1\n", "line 3: found a number of entries other than 0");
    refuses_journal(HEAD "end 0\nend 0\n", "line 4: found more after the end");
    refuses_journal(HEAD "../../x 3 mtu was 1 set 9 jobs 1\nend 1\n", "line 3: found no interface");
    refuses_journal(HEAD "all 3 rp_filter was 1 set 0 jobs 1\nend 1\n",
                    "line 3: found no interface");
    refuses_journal(HEAD "eth1 -3 mtu was 1500 set 9000 jobs 1\nend 1\n", "found no interface");
    refuses_journal(HEAD "eth1 0 mtu was 1500 set 9000 jobs 1\nend 1\n", "found no interface");
    refuses_journal(HEAD "eth1 3 owner was 1 set 9 jobs 1\nend 1\n", "unknown setting \"owner\"");
    refuses_journal(HEAD "eth1 3 address was 1 set 9 jobs 1\nend 1\n", "unknown setting");
    refuses_journal(HEAD "eth1 3 mtu was x set 9000 jobs 1\nend 1\n", "found mtu=\"x\"");
    refuses_journal(HEAD "eth1 3 rp_filter was 1 set 7 jobs 1\nend 1\n", "found rp_filter=\"7\"");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set , jobs 1\nend 1\n", "found no value");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set 1,2,3,4,5 jobs 1\nend 1\n", "more than 4 values");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set 9000 jobs x\nend 1\n", "found no list of jobs");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set 9000 jobs 1,1\nend 1\n", "no list of jobs");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set 9000 jobs 1 2\nend 1\n", "found no entry");
    refuses_journal(HEAD "eth1 3 mtu was 1500 set 9000 jobs 1\n"
                         "eth1 3 mtu was 1500 set 9000 jobs 1\nend 2\n",
                    "line 4: found a second entry of eth1 mtu");
}

static void journal_file_is_private(void)
{
    struct netif_journal journal = {0};
    struct error err = {""};
    struct stat status;
    char name[96];

    is_int(journal_load(path, &journal, &err), 1, "a missing file is an empty journal");
    strcpy(journal.boot_id, "571a17f9");
    journal_add(&journal, "eth1", 3, NETIF_MTU, 1500, 9000);
    is_int(journal_store(path, &journal, &err), 0, "a journal is written (%s)", err.text);
    stat(path, &status);
    is_int(status.st_mode & 07777, 0600, "... readable and writable only by its owner");
    journal_clear(&journal);
    is_int(journal_load(path, &journal, &err), 0, "... and read (%s)", err.text);
    is_int(journal.entries[0].was, 1500, "... with its entry");
    chmod(path, 0622);
    journal_clear(&journal);
    is_int(journal_load(path, &journal, &err), -1, "a journal that others may write to is refused");
    has_str(err.text, "writable by nobody else", "... with this message");
    chmod(path, 0600);
    snprintf(name, sizeof name, "%s.link", path);
    is_int(symlink(path, name), 0, "a link to a journal");
    is_int(journal_load(name, &journal, &err), -1, "... is refused");
    unlink(name);
    snprintf(name, sizeof name, "%s.new", path);
    is_int(symlink("/dev/full", name), 0, "a link takes the name of the temporary file");
    strcpy(journal.boot_id, "571a17f9");
    journal_add(&journal, "eth2", 4, NETIF_MTU, 1500, 9000);
    is_int(journal_store(path, &journal, &err), 0, "... and is not followed (%s)", err.text);
    journal_clear(&journal);
    is_int(journal_store(path, &journal, &err), 0, "an empty journal is stored");
    is_int(access(path, F_OK), -1, "... which removes the file");
}

/* A journal that cannot be read would stop all later jobs from setting their interfaces. */
static void oversized_journal_is_refused(void)
{
    struct netif_journal journal = {.boot_id = "571a17f9"};
    struct error err = {""};
    bool failed = false;

    journal_add(&journal, "eth1", 3, NETIF_MTU, 1500, 9000);
    is_int(journal_store(path, &journal, &err), 0, "a small journal is written (%s)", err.text);
    for (int index = 4; index < 100; index++) {
        struct netif_entry *entry = journal_add(&journal, "eth2", index, NETIF_MTU, 1500, 9000);

        for (uint32_t job = 4000000000; job < 4000000000 + JOURNAL_JOBS / 2; job++)
            entry_add_job(entry, job, &failed);
    }
    ok(!failed, "many jobs are added to many entries");
    is_int(journal_store(path, &journal, &err), -1, "a journal too large to be read is refused");
    has_str(err.text, "allowed 1048576", "... with the limit in the message");
    journal_clear(&journal);
    is_int(journal_load(path, &journal, &err), 0, "... and the former journal stays (%s)",
           err.text);
    is_int(journal.count, 1, "... unchanged");
    journal_clear(&journal);
    unlink(path);
}

/* ---------------------------------------------------------------- the decisions */

static void plan_decisions(void)
{
    struct netif_journal journal = {0};
    struct netif_entry *entry;
    bool is_dirty = false, is_foreign;

    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 9000, 9000, 12, &is_dirty, &is_foreign),
           PLAN_NOTHING, "a value that is right already needs nothing");
    is_int(journal.count, 0, "... not even an entry");
    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 1500, 9000, 12, &is_dirty, &is_foreign),
           PLAN_MAKE, "another value is to be set");
    ok(is_dirty, "... after it was added to the journal");
    is_dirty = false;
    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 9000, 9000, 12, &is_dirty, &is_foreign),
           PLAN_NOTHING, "the same job needs nothing a second time");
    ok(!is_dirty, "... and the journal is unchanged");
    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 9000, 9000, 13, &is_dirty, &is_foreign),
           PLAN_NOTHING, "another job with the same value needs nothing");
    ok(is_dirty, "... but is added to the journal");
    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 9000, 4000, 14, &is_dirty, &is_foreign),
           PLAN_MAKE, "a job with another value is to set it");
    entry = journal_find(&journal, 3, NETIF_MTU);
    is_int(entry->was, 1500, "... and the former value in the journal stays");
    is_int(plan_restore(entry, 9000), PLAN_RESTORE,
           "after a kill before the setting, the earlier value is muster's");
    is_int(plan_restore(entry, 4000), PLAN_RESTORE, "... after the setting, the new one is");
    is_int(plan_restore(entry, 1500), PLAN_IS_RESTORED, "the former value is restored already");
    is_int(plan_restore(entry, 2000), PLAN_FOREIGN, "any other value is somebody else's");
    is_int(plan_make(&journal, "eth1", 3, NETIF_MTU, 2000, 4000, 15, &is_dirty, &is_foreign),
           PLAN_MAKE, "a value of somebody else is replaced");
    ok(is_foreign, "... and is reported as foreign");
    is_int(entry->was, 2000, "... and is the one to restore");
    is_int(plan_restore(entry, 9000), PLAN_FOREIGN,
           "... and the value that muster set earlier counts as foreign");
    is_int(entry->job_count, 4, "all jobs hold the setting");
    journal_clear(&journal);
}

/* Three messages change the priorities of a DSCP from 1 and 4 to 3. A killed process may
 * leave any value in between. */
static void plan_decisions_during_change(void)
{
    enum netif_setting dscp26 = NETIF_DSCP + 26;
    const long was = 1 << 1 | 1 << 4, wanted = 1 << 3;
    struct netif_journal journal = {0};
    struct netif_entry *entry;
    bool is_dirty = false, is_foreign;

    plan_make(&journal, "eth1", 3, dscp26, was, wanted, 12, &is_dirty, &is_foreign);
    entry = journal_find(&journal, 3, dscp26);
    is_int(plan_restore(entry, was | wanted), PLAN_RESTORE,
           "after a kill with the new priority added, the value is muster's");
    is_int(plan_restore(entry, 1 << 4 | wanted), PLAN_RESTORE,
           "... also with one former priority removed");
    is_int(plan_restore(entry, wanted), PLAN_RESTORE, "... and with all of them removed");
    is_int(plan_restore(entry, was), PLAN_IS_RESTORED, "... the former value is restored already");
    is_int(plan_restore(entry, 1 << 4), PLAN_FOREIGN,
           "a value that no step of the change leaves is somebody else's");
    is_int(plan_restore(entry, was | 1 << 5), PLAN_FOREIGN,
           "... and so is one with a priority of neither value");
    plan_make(&journal, "eth1", 3, dscp26, 1 << 4 | wanted, wanted, 13, &is_dirty, &is_foreign);
    ok(!is_foreign && entry->was == was,
       "the next job does not take such a value for the former value");
    journal_clear(&journal);
}

/* ---------------------------------------------------------------- what is done */

static struct netif_report report; /* of the last call */

static const struct netif_report *apply(const char *lines, uint32_t job)
{
    report = (struct netif_report){0};
    fake_apply(path, lines, job, &report);
    return &report;
}

static const struct netif_report *end_job(uint32_t job)
{
    report = (struct netif_report){0};
    netif_restore(path, 1000, &fake_machine, RESTORE_JOB, job, &report);
    return &report;
}

static void two_jobs(void)
{
    fake_reset();
    is_int(apply("eth[1-2] mtu=9000 up=yes", 12)->made, 4, "the settings of a job are made");
    is_int(apply("eth[1-2] mtu=9000 up=yes", 13)->made, 0, "the second job makes none");
    is_int(end_job(12)->restored, 0, "the end of the first job restores none");
    is_int(fake_value("eth1", NETIF_MTU), 9000, "... as the second job needs them");
    is_int(end_job(12)->restored, 0, "... a second run of the epilog changes nothing");
    is_int(end_job(13)->restored, 4, "the end of the second job restores them");
    ok(fake_has_initial_values(), "... all of them");
    is_int(access(path, F_OK), -1, "... and the journal is removed");

    apply("eth1 mtu=9000", 12);
    apply("eth1 mtu=4000 rp_filter=2", 13);
    end_job(13);
    is_int(fake_value("eth1", NETIF_RP_FILTER), 1,
           "a setting that only the second job held is restored at its end");
    is_int(fake_value("eth1", NETIF_MTU), 4000, "... a setting that both held is not");
    end_job(12);
    ok(fake_has_initial_values(), "... until the first job ends: then to the value before both");
}

/* Another job's prolog or epilog has the lock. */
static void lock_is_taken(void)
{
    struct error err;
    char notes[128], note[128];
    int lock;

    fake_reset();
    snprintf(notes, sizeof notes, "%s.d", path);
    apply("eth[1-2] mtu=9000", 12);
    lock = journal_lock(path, 0, &err);
    is_int(apply("eth[1-2] mtu=9000", 13)->failed, 1, "a job without the lock sets nothing");
    ok(!netif_is_at_fault(&report, true, false), "... and no interface is at fault");
    close(lock);
    end_job(12);
    is_int(fake_value("eth1", NETIF_MTU), 9000,
           "... but it keeps the settings of the other job when that job ends");
    is_int(access(notes, F_OK), -1, "... and its note is merged into the journal");
    lock = journal_lock(path, 0, &err);
    is_int(end_job(13)->left, 1, "an epilog without the lock restores nothing");
    close(lock);
    report = (struct netif_report){0};
    netif_restore(path, 1000, &fake_machine, RESTORE_ORPHANS, 0, &report);
    is_int(report.restored, 2, "... and the next call restores its settings");
    ok(fake_has_initial_values() && access(notes, F_OK) != 0, "... all of them");

    apply("eth1 mtu=9000", 12);
    netif_note_write(path, fake_machine.boot_id, 13, true, &err);
    netif_note_write(path, fake_machine.boot_id, 13, false, &err);
    netif_note_write(path, fake_machine.boot_id, 13, true, &err);
    netif_note_write(path, fake_machine.boot_id, 14, true, &err);
    netif_note_write(path, fake_machine.boot_id, 14, false, &err);
    netif_note_write(path, "0-1", 15, true, &err);
    end_job(12);
    is_int(fake_value("eth1", NETIF_MTU), 9000,
           "the last note of a requeued job counts: it is here");
    end_job(13);
    ok(fake_has_initial_values(), "... jobs that are gone, or of an earlier boot, do not count");
    ok(access(notes, F_OK) != 0, "... and no note is left");

    apply("eth1 mtu=9000", 12);
    netif_note_write(path, fake_machine.boot_id, 13, true, &err);
    snprintf(note, sizeof note, "%s.new", path);
    mkdir(note, 0700);
    end_job(12);
    snprintf(note, sizeof note, "%s/13-here-%s", notes, fake_machine.boot_id);
    is_int(access(note, F_OK), 0, "a note stays while the journal cannot be written");
    snprintf(note, sizeof note, "%s.new", path);
    rmdir(note);
    end_job(12);
    end_job(13);
    ok(fake_has_initial_values(), "... and counts once it can");
}

/* Sets an interface while another job holds the lock for this time. Returns the report. */
static const struct netif_report *apply_after_lock(unsigned milliseconds)
{
    struct netif_line line;
    int lock = journal_lock(path, 0, NULL);
    pid_t other = fork();

    if (other == 0) {
        usleep(1000 * milliseconds);
        _exit(0);
    }
    close(lock);
    report = (struct netif_report){0};
    netif_line_parse("eth1 mtu=9000", &line, NULL);
    netif_apply(path, 60000, &fake_machine, &line, 1, 12, &report);
    netif_line_clear(&line);
    waitpid(other, NULL, 0);
    return &report;
}

static void lock_delays(void)
{
    fake_reset();
    is_int(apply_after_lock(100)->made, 1, "a lock that is free after a moment");
    ok(netif_is_at_fault(&report, false, true),
       "... does not excuse a driver that hangs afterward");
    end_job(12);
    is_int(apply_after_lock(NETIF_WAITED_MS + 10)->made, 1, "a lock that is free late");
    ok(!netif_is_at_fault(&report, false, true), "... may be the cause of the delay");
    end_job(12);
}

static void interface_faults(void)
{
    report = (struct netif_report){.failed = 1};
    ok(netif_is_at_fault(&report, true, false), "a setting that cannot be made is at fault");
    report.inconclusive = 1;
    ok(!netif_is_at_fault(&report, true, false),
       "... but not if memory, the lock or the journal was the cause");
    report.failed = 2;
    ok(netif_is_at_fault(&report, true, false), "... which does not excuse another setting");
    report = (struct netif_report){0};
    ok(!netif_is_at_fault(&report, true, false), "nothing failed: no interface is at fault");
    ok(netif_is_at_fault(&report, false, true),
       "work that did not end in time is an interface's fault");
    ok(!netif_is_at_fault(&report, false, false), "... but not work whose process ended early");
    report.has_waited = true;
    ok(!netif_is_at_fault(&report, false, true), "... nor work that waited for another job");
}

/* A driver that gets no memory for new rings, and one that refuses them. */
static void shortages(void)
{
    fake_reset();
    fake_refuse = ENOMEM;
    is_int(apply("eth1 mtu=9000", 12)->failed, 1, "a driver without memory does not set an MTU");
    ok(!netif_is_at_fault(&report, true, false), "... which is no fault of the interface");
    is_int(apply("eth1 roce-mode=v2", 13)->failed, 2, "... nor makes the directory for RoCE");
    ok(!netif_is_at_fault(&report, true, false), "... which excuses the setting in it");
    end_job(13);
    fake_refuse = EINVAL;
    is_int(apply("eth1 mtu=9000", 12)->failed, 1, "a driver that refuses an MTU");
    ok(netif_is_at_fault(&report, true, false), "... is at fault");
    fake_refuse = 0;
    end_job(12);
}

static void priorities(void)
{
    struct netif_journal journal;

    fake_reset();
    /* two entries for one DSCP, as a site's daemon may leave them */
    fake_set("eth1", NETIF_DSCP + 26, 0x0a);
    is_int(apply("eth1 pfc=3+4 dscp26=3", 12)->made, 2,
           "flow control and the priority of a DSCP are set");
    is_int(fake_value("eth1", NETIF_PFC), 0x18, "... flow control");
    is_int(fake_value("eth1", NETIF_DSCP + 26), 0x08, "... the DSCP");
    journal_load(path, &journal, NULL);
    is_int(journal.count, 2, "... both are in the journal");
    is_int(journal.entries[1].was, 0x0a, "... with several former priorities");
    is_int(journal.entries[0].set_count, 1, "... and one value for several priorities");
    journal_clear(&journal);
    is_int(end_job(12)->restored, 2, "... both are restored");
    is_int(fake_value("eth1", NETIF_DSCP + 26), 0x0a, "... all of them");
}

static void failures(void)
{
    fake_reset();
    is_int(apply("eth[1,9] mtu=60000 txqueuelen=5000 rx-ring=100 address=10.1.0.0/16", 12)->failed,
           4, "settings that cannot be made are counted");
    is_str(report.lines[0].text,
           "eth1: rx-ring 100 cannot be set: no rings; Interface line 7 of "
           "muster.conf",
           "a ring that cannot be set is reported");
    is_str(report.lines[1].text, "eth9: is not on this node; Interface line 7 of muster.conf",
           "an interface that does not exist is reported");
    is_str(report.lines[2].text,
           "eth1: mtu 60000 cannot be set: limit 10000; Interface line 7 of "
           "muster.conf",
           "an MTU above the limit is reported");
    is_str(report.lines[3].text,
           "eth1: has no IP address in 10.1.0.0/16; Interface line 7 of muster.conf",
           "a missing address is reported");
    is_int(report.inconclusive, 0, "... and conclusive, whatever errno an earlier call left");
    is_int(fake_value("eth1", NETIF_TXQUEUELEN), 5000, "the other settings are made all the same");
    is_int(end_job(12)->restored, 1, "... and are restored");
    ok(fake_has_initial_values(), "... all of them");

    is_int(apply("eth1 txqueuelen=777", 12)->failed, 1,
           "a driver that rounds a value is a failure");
    has_str(report.lines[0].text,
            "the driver sets it to txqueuelen 768; use a value that the driver accepts",
            "... and the message has the value that the driver sets");
    ok(fake_has_initial_values(), "... and nothing is changed");
    end_job(12);

    fake_all_rp_filter = 1;
    apply("eth1 rp_filter=0", 12);
    has_str(report.lines[0].text, "net.ipv4.conf.all.rp_filter is 1, and the kernel uses",
            "a sysctl that conf/all overrides is reported");
    end_job(12);
    fake_all_rp_filter = 0;

    apply("eth1 mtu=9000", 12);
    fake_set("eth1", NETIF_MTU, 3000);
    end_job(12);
    is_int(fake_value("eth1", NETIF_MTU), 3000, "a value that another program set stays");
    is_str(report.lines[0].text,
           "eth1: mtu 3000 was changed by another program and is not restored to mtu 1500",
           "... and is reported");
    fake_reset();

    apply("eth1 mtu=9000", 12);
    fake_refuse = EPERM;
    end_job(12);
    has_str(report.lines[0].text, "eth1: cannot restore mtu 1500: refused; muster retries",
            "a setting that cannot be restored is reported");
    fake_refuse = 0;
    apply("eth2 mtu=9000", 13);
    is_int(fake_value("eth1", NETIF_MTU), 1500, "... and the next job restores it");
    end_job(13);

    apply("eth1 mtu=9000", 12);
    fake_replace("eth1");
    end_job(12);
    is_str(report.lines[0].text, "eth1: is a different interface now; mtu 1500 is not restored",
           "another interface with the same name is not changed");
    is_int(access(path, F_OK), -1, "... and the journal is removed");

    fake_reset();
    apply("eth1 mtu=9000", 12);
    strcpy(fake_machine.boot_id, "1234-5678");
    apply("eth2 mtu=9000", 12);
    is_str(report.lines[0].text, "the reboot has undone 1 interface settings: nothing to restore",
           "a journal of an earlier boot is not restored");
    end_job(12);
    is_int(fake_value("eth1", NETIF_MTU), 9000, "... and the present values stay");
    fake_reset();
}

static void bad_journal(void)
{
    FILE *file;

    fake_reset();
    apply("eth1 mtu=9000", 12);
    file = fopen(path, "a");
    fputs("x\n", file);
    fclose(file);
    is_int(apply("eth2 mtu=9000", 13)->failed, 1, "a journal that cannot be read is a failure");
    ok(!netif_is_at_fault(&report, true, false), "... no interface is at fault");
    is_int(fake_value("eth2", NETIF_MTU), 1500, "... nothing is set");
    has_str(report.lines[0].text, "nothing is changed: ", "... and the message says so");
    has_str(report.lines[0].text, "line 5: found more after the end",
            "... with the number of the line");
    apply("eth[2,9] mtu=9000", 13);
    ok(netif_is_at_fault(&report, true, false), "... except one that does not exist");
    is_int(end_job(12)->left, 1, "... and nothing is restored");
    unlink(path);
    fake_reset();
}

/* A job that cannot be removed from the journal would hold its settings forever: a failure. */
static void journal_not_written(void)
{
    char new[96];

    fake_reset();
    apply("eth1 mtu=9000", 12);
    apply("eth1 mtu=9000", 13);
    snprintf(new, sizeof new, "%s.new", path);
    is_int(mkdir(new, 0700), 0, "a directory takes the name of the temporary file");
    is_int(end_job(12)->left, 1, "... so the journal cannot be written, which is counted");
    has_str(report.lines[0].text,
            "the interface journal cannot be written: ", "... and is reported");
    rmdir(new);
    end_job(12);
    is_int(end_job(13)->left, 0, "once the directory is gone, the journal can be written");
    is_int(fake_value("eth1", NETIF_MTU), 1500, "... and all is restored");
    fake_reset();
}

/* A journal that cannot be written is an error only if a setting has to change. A journal of an
 * earlier boot does not count. */
static void journal_not_needed(void)
{
    char good[sizeof path], other[96],
        old[] = "muster-interfaces 1\nboot 01234567\n"
                "eth2 4 mtu was 1500 set 9000 jobs 7\nend 1\n";
    FILE *file;

    fake_reset();
    strcpy(good, path);
    snprintf(path, sizeof path, "%s/no/more/interfaces", directory);
    is_int(apply("eth1 mtu=1500", 12)->failed, 0,
           "a journal that cannot be written is no failure if no setting has to change");
    has_str(report.lines[0].text, "nothing had to be set", "... and the message says so");
    is_int(apply("eth[1-2] mtu=9000", 12)->failed, 2, "two settings that have to change fail");
    is_int(fake_value("eth1", NETIF_MTU), 1500, "... and are not set");
    has_str(report.lines[0].text,
            "eth1: mtu 9000 cannot be set: ", "... each with a line in the report");
    ok(!netif_is_at_fault(&report, true, false), "... and no interface is at fault");
    apply("eth1 roce-mode=v2 roce-tos=106", 12);
    ok(report.failed > 0 && !netif_is_at_fault(&report, true, false),
       "... nor with a RoCE setting whose directory has to be made");
    strcpy(path, good);

    file = fopen(path, "w");
    fputs(old, file);
    fclose(file);
    chmod(path, 0600);
    snprintf(other, sizeof other, "%s.new", path);
    mkdir(other, 0700);
    is_int(apply("eth1 mtu=1500", 12)->failed, 0,
           "the journal of an earlier boot that cannot be removed is no failure");
    is_int(fake_value("eth2", NETIF_MTU), 1500, "... and none of its entries is restored");
    rmdir(other);

    fclose(fopen(path, "w"));
    chmod(path, 0600);
    is_int(apply("eth1 mtu=9000", 12)->failed, 0,
           "an empty journal, as a power failure leaves it, is no failure");
    is_int(end_job(12)->left, 0, "... and settings made then are restored");
    fake_reset();
}

int main(void)
{
    char lock[96];

    if (!mkdtemp(directory))
        return 99;
    snprintf(path, sizeof path, "%s/interfaces", directory);
    reads_lines();
    refuses_lines();
    matches_addresses();
    reads_journals();
    journal_file_is_private();
    oversized_journal_is_refused();
    plan_decisions();
    plan_decisions_during_change();
    two_jobs();
    lock_is_taken();
    lock_delays();
    interface_faults();
    shortages();
    priorities();
    failures();
    bad_journal();
    journal_not_written();
    journal_not_needed();
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    is_int(rmdir(directory), 0, "no file is left behind");
    return tap_done();
}
