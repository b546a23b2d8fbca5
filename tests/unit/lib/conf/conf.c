/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf.h"
#include "tests/unit/tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/muster-conf-XXXXXX";
static char path[sizeof directory + 16];
static struct conf conf; /* of the file that was read last */
static struct error err;

static void write_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        exit(99);
}

static int read_file(const char *file)
{
    conf_clear(&conf);
    err = (struct error){""};
    return conf_read(file, &conf, &err);
}

static int read_text(const char *text)
{
    write_bytes(text, strlen(text));
    return read_file(path);
}

static void refused(const char *text, const char *message)
{
    char expected[1024];

    is_int(read_text(text), -1, "refused: %.60s", message);
    snprintf(expected, sizeof expected, "%s:%s", path, message);
    has_str(err.text, expected, "... with this message");
    is_int(conf.on_missing, POLICY_LOG, "... and the defaults are set");
}

/* The same for a text of one line, which the message repeats. */
static void refuses(const char *text, const char *message)
{
    char whole[1024];

    snprintf(whole, sizeof whole, "1: %.*s: %s", (int)strcspn(text, "\n"), text, message);
    refused(text, whole);
}

static char *printed(void)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (!stream || conf_print(&conf, stream) != 0)
        exit(99);
    fclose(stream);
    return text;
}

/* Reads and prints the printed text once more, and frees it. */
static void is_read_again(char *text, const char *what_is_read, const char *what_is_the_same)
{
    char *again;

    is_int(read_text(text), 0, "%s (%s)", what_is_read, err.text);
    again = printed();
    is_str(again, text, "%s", what_is_the_same);
    free(again);
    free(text);
}

static void reads_values(void)
{
    is_int(read_text("# a comment\n"
                     "\n"
                     "ManagementInterface=eth0\r\n"
                     "  FabricInterfaces = eth[1-2],mlx5_0:1   # the rails\n"
                     "nominalspeed=eth[1-2]:200Mb/s,mlx5_[0-7]:400Gb/s,eth3:2.5Gb/s\n"
                     "MTU=9000\n"
                     "GPUSPERNODE=8\n"
                     "MemlockMB=64\n"
                     "ShmMB=8000\n"
                     "SetEnvironment=no\n"
                     "CheckSteps=no\n"
                     "MasterPorts=30000-30010\n"
                     "BatteryUser=_hpc-test\n"
                     "MungeSocket=/run/munge/other\n"
                     "CertificateFile=/run/muster/certificate\n"
                     "CertificateValidity=12h\n"
                     "WriteExtra=no\n"
                     "OnMissing=Refuse\n"
                     "OnExpired=ignore\n"
                     "LinkNominalPercent=70\n"
                     "LinkPeersPercent=92.5%\n"
                     "Preflight=Standard\n"
                     "Golden=/etc/muster/golden\n"
                     "CompareBy=Partitions,gres\n"
                     "PreflightBudget=2m\n"
                     "LatencyPeersRatio=3.25\n"
                     "Concurrency=16\n"
                     "LeafConcurrency=ALL\n"
                     "StandardBudget=Auto\n"
                     "QuickBudget=90"),
           0, "a file with every kind of value is read (%s)", err.text);
    is_str(conf.management_interface, "eth0", "CR LF ends a line as LF does");
    is_int(conf.fabric_interfaces.count, 3, "a list of interfaces has its names");
    is_str(conf.fabric_interfaces.names[2], "mlx5_0:1", "... in their order");
    is_near(conf_nominal_mbps(&conf, "eth2"), 200, 0, "200Mb/s of eth[1-2]");
    is_near(conf_nominal_mbps(&conf, "mlx5_7"), 400e3, 0, "400Gb/s of mlx5_[0-7]");
    is_near(conf_nominal_mbps(&conf, "mlx5_7:1"), 400e3, 0, "a port has its device's speed");
    is_near(conf_nominal_mbps(&conf, "eth3"), 2500, 1e-9, "2.5Gb/s of eth3");
    is_near(conf_nominal_mbps(&conf, "eth0"), -1, 0, "an interface that is not named has no speed");
    is_int(conf.mtu_bytes, 9000, "MTU");
    is_int(conf.gpus_per_node, 8, "a key in capitals");
    is_int(conf.memlock_mb, 64, "MemlockMB");
    is_int(conf.shm_mb, 8000, "ShmMB");
    is_int(conf.set_environment, false, "SetEnvironment");
    is_int(conf.check_steps, false, "CheckSteps");
    is_int(conf.master_port_first, 30000, "the first port");
    is_int(conf.master_port_last, 30010, "the last port");
    is_str(conf.battery_user, "_hpc-test", "BatteryUser");
    is_str(conf.munge_socket, "/run/munge/other", "MungeSocket");
    is_str(conf.certificate_path, "/run/muster/certificate", "CertificateFile");
    is_int(conf.certificate_valid_s, 12 * 3600, "12h");
    is_int(conf.write_extra, false, "WriteExtra");
    is_int(conf.on_missing, POLICY_REFUSE, "a policy in capitals");
    is_int(conf.on_expired, POLICY_IGNORE, "OnExpired");
    is_int(conf.on_changed, POLICY_LOG, "a key that is absent keeps its default");
    is_near(conf.link_nominal_percent, 70, 0, "a percentage without %%");
    is_near(conf.link_peers_percent, 92.5, 1e-9, "a percentage with %%");
    is_near(conf.latency_peers_ratio, 3.25, 1e-9, "a decimal number");
    is_int(conf.preflight, PREFLIGHT_STANDARD, "Preflight");
    is_str(conf.golden_path, "/etc/muster/golden", "Golden");
    is_int(conf.compare_by, COMPARE_GRES | COMPARE_PARTITIONS, "CompareBy");
    is_near(conf.preflight_budget_s, 120, 0, "PreflightBudget");
    is_int(conf.concurrency, 16, "Concurrency");
    is_int(conf.leaf_concurrency, 0, "a word instead of a number, in any case");
    is_near(conf.standard_budget_s, 0, 0, "... and instead of a time");
    is_near(conf.quick_budget_s, 90, 0, "a time without a unit, in a last line without a line end");
    conf_clear(NULL);
}

/* Keys that may occur in several lines keep their order and their line numbers. */
static void reads_repeatable_keys(void)
{
    static const char text[] = "Island=ib nodes=n[1-4] fabric=InfiniBand\n"
                               "Variable=NCCL_IB_TC set 106 partition=train,debug fabric=RoCEv2\n"
                               "Island=eth fabric=ethernet nodes=n5\n"
                               "Variable=P extend \"a b\" separator=: nodes=n[1-2] account=x\n"
                               "Variable=UCX_TLS forbid\n"
                               "Variable=Q set '\"' force\n"
                               "Variable=Q set 1 account='my project'\n"
                               "Variable=\n";
    char *first;

    is_int(read_text(text), 0, "repeatable keys are read (%s)", err.text);
    is_int(conf.island_count, 2, "two islands");
    is_str(conf.islands[1].name, "eth", "... in their order");
    is_int(conf.islands[1].fabric, FABRIC_ETHERNET, "... with their fabric");
    is_int(conf.islands[1].line, 3, "... and line");
    is_int(conf.islands[0].nodes.count, 4, "... and nodes");
    is_int(conf.variable_count, 5, "five lines of variables; an empty one does not count");
    is_str(conf.variables[0].value, "106", "a value");
    is_int(conf.variables[0].partitions.count, 2, "... for two partitions");
    is_int(conf.variables[0].fabrics, 1 << FABRIC_ROCE_V2, "... on one fabric");
    is_str(conf.variables[1].value, "a b", "a value in quotes");
    is_str(conf.variables[1].separator, ":", "... and its separator");
    is_int(conf.variables[2].action, VARIABLE_FORBID, "a variable forbidden");
    is_str(conf.variables[3].value, "\"", "a quote inside the other kind of quotes");
    ok(conf.variables[3].is_forced && !conf.variables[0].is_forced, "only one variable is forced");
    is_str(conf.file, strrchr(path, '/') + 1, "the file's name is kept without its directory");
    first = printed();
    has_str(first,
            "Island=ib nodes=n[1-4] fabric=InfiniBand\nIsland=eth nodes=n5 fabric=Ethernet\n",
            "islands are printed");
    has_str(first, "Variable=P extend \"a b\" separator=: nodes=n[1-2] account=x\n",
            "variables are printed");
    is_read_again(first, "the printed configuration can be read", "... and is printed the same");
}

static void refuses_values(void)
{
    refuses("OnMissing=maybe\n", "found \"maybe\", allowed ignore, log, refuse");
    refuses("CompareBy=gres,\n",
            "found \"gres,\", allowed gres, features, partitions, several with commas, or none");
    refuses("Golden=golden\n", "found \"golden\", allowed an absolute path");
    refuses("Preflight=yes\n", "found \"yes\", allowed off, quick, standard");
    refused("\n# x\nMTU=12\n", "3: MTU=12: found \"12\", allowed 68 to 65535, or majority");
    refuses("MTU=-9000", "found");
    refuses("MTU=9000x", "found \"9000x\"");
    refuses("MTU=1e3", "found");
    refuses("MTU=1500.5", "found");
    refuses("MTU=", "found \"\"");
    refused("MTU=99999999999999999999999999999999", "1: MTU=9999");
    refuses("GPUsPerNode=many", "found \"many\", allowed 0 to 64, or auto");
    refuses("ShmMB=0", "found \"0\", allowed 1 to 1073741824, or any");
    refuses("Strikes=0", "found \"0\", allowed 1 to 100");
    refuses("Strikes=none", "found \"none\", allowed 1 to 100");
    refuses("SetEnvironment=1", "found \"1\", allowed yes, no");
    refuses("MasterPorts=29500", "found \"29500\", allowed FIRST-LAST");
    refuses("MasterPorts=30000-29999", "found");
    refuses("MasterPorts=80-90", "found");
    refuses("MasterPorts=1024-65536", "found");
    refuses("CertificateFile=certificate", "found");
    refuses("CertificateFile=", "found \"\", allowed an absolute path");
    refuses("BatteryUser=root", "found \"root\", allowed the name of a user other than root");
    refuses("BatteryUser=0", "found \"0\", allowed the name");
    refuses("BatteryUser=", "found \"\", allowed the name");
    refuses("BatteryUser=a b", "found");
    refuses("MungeSocket=munge.socket", "found");
    refuses("CertificateValidity=7w", "found \"7w\", allowed 1m to");
    refuses("CertificateValidity=7days", "found");
    refuses("CertificateValidity=1s", "found");
    refuses("QuickBudget=1.5s", "found");
    refuses("FullBudget=none",
            "found \"none\", allowed 1s to 7d (units s, m, h, d; none: s), or auto");
    refuses("Concurrency=0", "found \"0\", allowed 1 to 100000, or auto");
    refuses("LinkPeersPercent=101", "found \"101\", allowed 0% to 100%");
    refuses("LinkPeersPercent=80 %", "found");
    refuses("LatencyPeersRatio=5%", "found");
    refuses("LatencyPeersRatio=nan", "found");
    refuses("ManagementInterface=eth 0", "found");
    refuses("FabricInterfaces=eth[1-", "\"eth[1-\" has a [");
    refuses("FabricInterfaces=eth1,eth[1-2]", "found \"eth1\" twice");
    refuses("FabricInterfaces=eth[1-2000]", "found 2000");
    refuses("FabricInterfaces=../eth1", "found");
    refuses("NominalSpeed=eth1", "found \"eth1\", allowed NAMES:SPEED");
    refuses("NominalSpeed=eth1:200", "found");
    refuses("NominalSpeed=eth1:200MB/s", "found");
    refuses("NominalSpeed=:200Mb/s", "found");
    refuses("NominalSpeed=eth1:0Mb/s", "found");
    refuses("NominalSpeed=eth1:1Mb/s,", "found");
    refuses("NominalSpeed=,eth1:1Mb/s", "found");
    refuses("NominalSpeed=eth[1-2]:1Gb/s,eth2:2Gb/s", "found \"eth2\" twice");
    refuses("Interface=eth1 mtuu=9000", "found \"mtuu\", allowed rx-");
    refused(
        "Interface=eth[1-2] mtu=9000\nInterface=eth3 mtu=9000\nInterface=eth[2-3] up=yes mtu=1500",
        "3: Interface=eth[2-3] up=yes mtu=1500: eth2: mtu: found a second time, first in line 1");
    refused("OnMising=log", "1: found an unknown key \"OnMising\", nearest is OnMissing");
    refused("linkpeerpercent=1", "1: found an unknown key \"linkpeerpercent\", nearest is "
                                 "LinkPeersPercent");
    refused("Colour=blue", "1: found an unknown key \"Colour\", allowed are those");
    refuses("Report=pdf:/x", "found \"pdf:/x\", allowed table, html, junit");
    refuses("Report=csv", "found \"csv\", allowed table, html, junit");
    refuses("Report=csv:x", "found \"csv:x\", allowed table, html");
    refuses("Report=csv:/x%d", "found \"%d\" in the path, allowed %r");
    refuses("Mounts=/home,scratch",
            "found \"scratch\", allowed absolute paths such as /home,/scratch:rw, or nothing");
    refuses("Mounts=/home:ro", "found \"/home:ro\", allowed absolute ");
    refuses("Mounts=/home,/home", "found \"/home\" twice, allowed once");
    refuses("Services=sssd,a b",
            "found \"a b\", allowed names of systemd's services such as sssd,munge, or nothing");
    refuses("KernelLog=xid:63", "found \"xid:63\", allowed SOURCE:EVENT:ACTION");
    refuses("KernelLog=xid:63:ignore now", "found");
    refuses("KernelLog=xid:63:reboot", "found the action \"reboot\", allowed ignore, warn, drain");
    refuses("KernelLog=xid:0:warn", "found the code \"0\", allowed 1 to 99999");
    refuses("KernelLog=mlx4:health:warn",
            "found the source \"mlx4\", allowed are xid, sxid, nvidia, amdgpu, ");
    refuses("KernelLog=nvme:died:warn",
            "found the event \"died\", allowed of nvme are failed, timeout, down, no_path");
    refuses("KernelLog=amdgpu:reset_done:warn", "found the event \"reset_done\"");
    refuses("KernelLog=xid:13:drain",
            "found drain for xid:13, allowed ignore, warn: a job can be the cause");
    refused("KernelLog=xid:63:warn\nMTU=9000\nkernellog=XID:63:ignore",
            "3: KernelLog=XID:63:ignore: found XID:63 a second time, first in line 1");
    refuses("Island=ib", "found no nodes=, allowed NAME nodes=NODES fabric=FABRIC");
    refuses("Island=ib nodes=n1", "found no fabric=");
    refuses("Island=i/b nodes=n1 fabric=EFA", "found the name");
    refuses("Island=ib nodes=n1 fabric=IB", "found the fabric \"IB\", allowed InfiniBand, RoCEv2,");
    refuses("Island=ib nodes=n1 nodes=n2 fabric=EFA", "found nodes= twice");
    refuses("Island=ib nodes=n1 fabric=EFA fabric=RoCEv2", "found fabric= twice, allowed once");
    refuses("Island=ib nodes=n[1-2],n2 fabric=EFA", "found a node of island ib twice");
    refused("Island=a nodes=n[1-4] fabric=EFA\nIsland=b nodes=n4 fabric=EFA",
            "2: Island=b nodes=n4 fabric=EFA: found node \"n4\" a second time, it is in island a");
    refused("Island=a nodes=n1 fabric=EFA\nIsland=a nodes=n2 fabric=EFA",
            "2: Island=a nodes=n2 fabric=EFA: found the island \"a\" a second time, first in line "
            "1");
    refuses("Island=a nodes=n1 fabric=EFA x", "found \"x\"");
    refuses("Variable=A", "found \"A\", allowed NAME set VALUE");
    refuses("Variable=A put 1", "found \"put\", allowed set, extend, leave");
    refuses("Variable=A set", "found set without a value");
    refuses("Variable=1A set 1", "found the variable \"1A\"");
    refuses("Variable=SLURM_JOB_ID set 1", "found the variable");
    refuses("Variable=MUSTER_SET forbid", "found the variable");
    refuses("Variable=A set 'x", "found a quote (') without its end");
    refuses("Variable=A set 1 rank=1",
            "found \"rank=1\", allowed partition=, nodes=, fabric=, account=, force");
    refuses("Variable=A leave force", "found \"force\"");
    refuses("Variable=A set 1 separator=:", "found \"separator=:");
    refuses("Variable=A extend 1 separator=\"'\"'\"'", "found both kinds of quotes");
    refuses("Variable=A extend 1 separator=123456789", "found the separator");
    refuses("Variable=A set 1 fabric=IB,EFA", "found the fabric");
    refused("MTU=9000\nmtu=9000\n", "2: MTU: found a second time, first in line 1");
    refused("FabricInterfaces\n", "1: found \"FabricInterfaces\", expected Key=Value");
    refused("=eth0\n", "1: found \"=eth0\", expected Key=Value");
    refused("MTU=\0339000", "1: found a control character (byte 0x1b)");
    refused("MTU=9000\r#\n", "1: found a control character (byte 0x0d)");
}

/* A node with an older muster keeps to the rest of the file. */
static void skips_marked_keys(void)
{
    is_int(read_text("-Colour=blue\n- Colour = red\n-mtu=9000\nOnMissing=refuse\n"), 0,
           "lines with a '-' may have unknown keys (%s)", err.text);
    is_int(conf.mtu_bytes, 9000, "... a known key is set");
    is_int(conf.on_missing, POLICY_REFUSE, "... and the other lines count");
    refused("-MTU=12", "1: MTU=12: found \"12\", allowed 68");
    refused("-MTU=9000\nMTU=9000", "2: MTU: found a second time, first in line 1");
    refused("-Colour", "1: found \"Colour\", expected Key=Value");
    refused("-=1", "1: found \"=1\", expected Key=Value");
}

/* Interface may occur in several lines. */
static void collects_interfaces(void)
{
    char *first;
    long value = 0;

    is_int(read_text("Interface=eth[1-2] mtu=9000\nOnInterface=refuse\n# x\n"
                     "Interface = eth1 rp_filter=2\nInterface=\n"),
           0, "several Interface lines are read (%s)", err.text);
    is_int(conf.netif_line_count, 2, "... an empty one does not count");
    is_int(conf.netif_lines[1].line, 4, "... with their line numbers");
    is_int(conf.on_interface, POLICY_REFUSE, "OnInterface");
    ok(netif_line_find(conf.netif_lines, 2, "eth2", NETIF_MTU, &value) != NULL,
       "the setting of an interface is found");
    is_int(value, 9000, "... with its value");
    ok(netif_line_find(conf.netif_lines, 2, "eth2", NETIF_RP_FILTER, &value) == NULL,
       "... but not a setting that it lacks");
    first = printed();
    has_str(first, "\nInterface=eth[1-2] mtu=9000\nInterface=eth1 rp_filter=2\n",
            "the lines are printed");
    is_read_again(first, "... and read again", "... and printed the same");
}

static void file_size_is_limited(void)
{
    char *text = malloc((1 << 20) + 2);

    if (!text)
        exit(99);
    memset(text, '#', 4096);
    strcpy(text + 4096, "\r\nMTU=9000\n");
    is_int(read_text(text), 0, "a line of 4096 bytes is read (%s)", err.text);
    memset(text, '#', 4097);
    strcpy(text + 4097, "\nMTU=9000\n");
    refused(text, "1: found a line of 4097 bytes, allowed 4096");
    write_bytes("MTU=9000\nMTU\0=1\n", 16);
    is_int(read_file(path), -1, "a NUL byte is refused");
    has_str(err.text, ": found a NUL byte", "... with this message");
    memset(text, '\n', (1 << 20) + 1);
    write_bytes(text, 1 << 20);
    is_int(read_file(path), 0, "a file of 1 MiB is read");
    write_bytes(text, (1 << 20) + 1);
    is_int(read_file(path), -1, "a longer file is refused");
    has_str(err.text, "found 1048577 bytes", "... with its length");
    write_bytes("", 0);
    is_int(read_file(path), 0, "an empty file is read");
    free(text);

    is_int(read_file(directory), -1, "a directory is refused");
    has_str(err.text, "not a regular file", "... with this message");
    is_int(read_file("/dev/zero"), -1, "a device is refused");
    has_str(err.text, "not a regular file", "... with this message");
    unlink(path);
    is_int(mkfifo(path, 0600), 0, "a FIFO takes the path");
    is_int(read_file(path), -1, "... is refused without waiting for a writer");
    unlink(path);
    is_int(read_file(path), 1, "a missing file returns 1");
    is_int(conf.mtu_bytes, 0, "... and the defaults are set");
    is_int(read_file("/dev/null/x"), -1, "a path through a file is an error");
    has_str(err.text, "/dev/null/x: Not a directory", "... with its cause");
    if (geteuid() == 0) {
        tap_skip("root reads every file");
    } else {
        write_bytes("", 0);
        chmod(path, 0);
        is_int(read_file(path), -1, "an unreadable file is an error");
        unlink(path);
    }
}

static void printed_text_is_read_back(void)
{
    char *first;
    const char *name, *default_text, *help;

    is_int(
        read_text(
            "FabricInterfaces=mlx5_[0-3],eth1\n"
            "NominalSpeed=eth[1-2]:200Mb/s,r[1-2]n[1-2]:2.5Gb/s,mlx5_0:1:1Tb/s,"
            "eth9:200Mb/s\n"
            "MTU=9000\nClockOffsetMs=0.25\nQuickBudget=3660\nStandardBudget=1d\nFullBudget=2h\n"),
        0, "a configuration is read");
    first = printed();
    has_str(first, "\nQuickBudget=61m\n", "a time is printed in its largest whole unit");
    has_str(first, "\nStandardBudget=1d\n", "... as a day");
    has_str(first, "\nFullBudget=2h\n", "... or as hours");
    has_str(first,
            "NominalSpeed=eth[1-2,9]:200Mb/s,r1n[1-2]:2.5Gb/s,r2n[1-2]:2.5Gb/s,"
            "mlx5_0:1:1Tb/s\n",
            "... names with the same speed are folded");
    is_read_again(first, "... is read again", "... and printed the same");

    conf_clear(&conf);
    conf_defaults(&conf);
    first = printed();
    for (size_t i = 0; conf_key(i, &name, &default_text, &help) == 0; i++) {
        char line[512];

        snprintf(line, sizeof line, "\n%s=%s\n", name, default_text);
        has_str(first, line, "the default of %s is set", name);
        /* a default that cannot be parsed would be a 0 that nobody notices */
        is_int(read_text(line), 0, "... and can be read (%s)", err.text);
    }
    free(first);
}

/* The man page documents all keys of the table, no others, and in the table's order. */
static void is_documented(void)
{
    const char *top = getenv("top_srcdir"), *name, *default_text;
    char page_path[4096], line[1024], key[64];
    size_t count = 0;
    FILE *page;

    snprintf(page_path, sizeof page_path, "%s/doc/muster.conf.5.in", top ? top : ".");
    page = fopen(page_path, "r");
    if (!ok(page != NULL, "the man page %s opens", page_path))
        return;
    while (fgets(line, sizeof line, page)) {
        int end = 0;

        if (sscanf(line, ".BR %63[A-Za-z] =%n", key, &end) != 1 || end == 0)
            continue;
        if (!ok(conf_key(count, &name, &default_text, NULL) == 0, "%s of the page is a key", key))
            break;
        is_str(key, name, "key %zu of the page is that of the table", count);
        count++;
    }
    ok(conf_key(count, &name, NULL, NULL) == -1, "the page has all keys");
    fclose(page);
}

/* The example is valid as it is, and with every key in it uncommented. */
static void example_is_good(void)
{
    const char *top = getenv("top_srcdir");
    char example[4096], line[1024], text[16384] = "";
    size_t length = 0;
    FILE *file;

    snprintf(example, sizeof example, "%s/etc/muster.conf", top ? top : ".");
    is_int(read_file(example), 0, "the example is valid (%s)", err.text);
    file = fopen(example, "r");
    if (!ok(file != NULL, "%s opens", example))
        return;
    while (fgets(line, sizeof line, file) && length < sizeof text)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                                   line + (line[0] == '#' && isupper((unsigned char)line[1])));
    fclose(file);
    is_int(read_text(text), 0, "... also with every key uncommented (%s)", err.text);
    is_int(conf.mtu_bytes, 9000, "... and the keys are set");
}

static void reads_kernel_log(void)
{
    char *text;

    is_int(read_text("KernelLog=\nKernelLog=xid:63:ignore\nKernelLog=nvme:Failed:WARN\n"
                     "KernelLog=sxid:31999:drain\nKernelLog=xid:13:warn\n"),
           0, "KernelLog may occur in several lines");
    is_int(conf.kernel_rule_count, 4, "... and each line that is not empty counts");
    is_int(conf.kernel_rules[2].action, KERNEL_DRAIN,
           "... also for a code that muster does not know");
    text = printed();
    has_str(text,
            "KernelLog=xid:63:ignore\nKernelLog=nvme:Failed:warn\nKernelLog=sxid:31999:drain\n",
            "... and is printed so that it can be read");
    free(text);
}

static void reads_mounts_and_services(void)
{
    char *text;

    is_int(read_text("Mounts=/scratch1:rw,/home,/scratch2:rw\nServices=sssd,getty@tty1.service\n"),
           0, "mounts and services are lists");
    text = printed();
    has_str(text, "\nMounts=/home,/scratch[1-2]:rw\n", "... and are printed folded");
    has_str(text, "\nServices=getty@tty1.service,sssd\n", "... and sorted");
    free(text);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 99;
    snprintf(path, sizeof path, "%s/muster.conf", directory);
    reads_values();
    reads_repeatable_keys();
    refuses_values();
    skips_marked_keys();
    collects_interfaces();
    reads_kernel_log();
    reads_mounts_and_services();
    file_size_is_limited();
    printed_text_is_read_back();
    is_documented();
    example_is_good();
    conf_clear(&conf);
    unlink(path);
    rmdir(directory);
    is_str(conf_policy_name(POLICY_REFUSE), "refuse", "a policy has a name");
    has_str(conf_default_path(), "/muster/muster.conf", "there is a default path");
    return tap_done();
}
