/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/text.h"
#include "lib/slurm/gresconf.h"
#include "lib/slurm/slurm_node_name.h"
#include "lib/slurm/slurmconf.h"
#include "tests/unit/poor_memory.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void gpu_count_is(const char *gres, long expected)
{
    is_int(slurm_gres_count(gres, "gpu"), expected, "Gres=%s has %ld GPUs", gres, expected);
}

static void value_is(const char *text, const char *key, const char *expected)
{
    char copy[512], value[64];
    struct slurm_line line = {"slurm.conf", 1, copy};
    bool found;

    strcpy(copy, text);
    found = slurm_line_value(&line, key, value, sizeof value);
    is_int(found, expected != NULL, "%s is %sin '%s'", key, expected ? "" : "not ", text);
    is_str(value, expected ? expected : "", "... as '%s'", expected ? expected : "");
}

static char *root;
static struct slurm_lines lines; /* of the file that was read last */
static struct slurm_node node;
static struct error err;

static int read_lines(const char *top, const char *directory, const char *name)
{
    slurm_lines_clear(&lines);
    err.text[0] = '\0';
    return slurm_lines_read(top, directory, name, &lines, &err);
}

static int read_conf(void)
{
    return read_lines(root, "/etc/slurm", "slurm.conf");
}

static void lines_are_read(void)
{
    char value[64];

    tree_put(root, "etc/slurm/slurm.conf",
             "# a comment\r\n"
             "clustername=one  # and one behind\n"
             "\n"
             "NodeName=DEFAULT Gres=gpu:2\n"
             "NodeName=a[1-2] CPUs=4 \\\n"
             "   RealMemory=100 \\\n"
             "   State=UNKNOWN\n"
             "nodename=b1 gres=gpu:4\n"
             "Include nodes.conf\n"
             "include /etc/other/last.conf\n"
             "ClusterName=two");
    tree_put(root, "etc/slurm/nodes.conf",
             "NodeName=c1,\\\nc[3-4] Gres=nic:1 Comment=\"a\\#b c\"\n");
    tree_put(root, "etc/other/last.conf", "\n\nNodeName=d1\n");
    is_int(read_conf(), 0, "a file with every kind of line is read");
    is_int(lines.count, 7, "... without comments and empty lines, with included files");
    ok(slurm_lines_value(&lines, "ClusterName", value, sizeof value),
       "a key is found in upper or lower case");
    is_str(value, "two", "... the last line counts, also without a line end");
    is_int(lines.lines[2].number, 5, "a continued line has the number of its first line");
    slurm_node_find(&lines, "a2", &node);
    ok(node.is_found, "a2 is one of a[1-2]");
    is_str(node.gres, "gpu:2", "... with the GRES of DEFAULT");
    slurm_node_find(&lines, "b1", &node);
    is_str(node.gres, "gpu:4", "b1 has its own GRES");
    is_int(node.number, 8, "... at line 8");
    slurm_node_find(&lines, "c4", &node);
    is_str(node.gres, "nic:1", "c4 comes from the included file");
    is_str(node.file, "/etc/slurm/nodes.conf", "... whose path is returned");
    slurm_node_find(&lines, "d1", &node);
    is_str(node.file, "/etc/other/last.conf", "an absolute Include is below the root");
    is_int(node.number, 3, "... and its lines are counted");
    slurm_node_find(&lines, "c2", &node);
    ok(!node.is_found, "c2 is not found");
}

static void cluster_in_include(void)
{
    tree_put(root, "etc/slurm/slurm.conf",
             "ClusterName=Lab\nInclude %c/nodes_%c.conf\nClusterName=other\n");
    tree_put(root, "etc/slurm/lab/nodes_lab.conf", "NodeName=e1\n");
    is_int(read_conf(), 0, "an Include with %%c is read");
    slurm_node_find(&lines, "e1", &node);
    is_str(text_of(node.file), "/etc/slurm/lab/nodes_lab.conf",
           "... from the path with the name of the cluster in lower case");
    tree_put(root, "etc/slurm/slurm.conf", "Include %c/nodes_%c.conf\nClusterName=lab\n");
    is_int(read_conf(), -1, "... which must stand before it");
    is_str(err.text,
           "/etc/slurm/slurm.conf:1: Include: %c/nodes_%c.conf: no ClusterName before this line",
           "... the error says so");
}

static void nested_include(void)
{
    tree_put(root, "etc/slurm/slurm.conf", "Include racks/all.conf\n");
    tree_put(root, "etc/slurm/racks/all.conf", "Include one.conf\nInclude two.conf\n");
    tree_put(root, "etc/slurm/one.conf", "NodeName=r1\n");
    tree_put(root, "etc/slurm/racks/one.conf", "NodeName=r9\n");
    tree_put(root, "etc/slurm/racks/two.conf", "NodeName=r2\n");
    is_int(read_conf(), 0, "an Include in an included file is read");
    slurm_node_find(&lines, "r1", &node);
    is_str(text_of(node.file), "/etc/slurm/one.conf", "... from the directory of slurm.conf");
    slurm_node_find(&lines, "r2", &node);
    is_str(text_of(node.file), "/etc/slurm/racks/two.conf",
           "... else from its own, as Slurm 22.05 does");
}

/* A configuration that is kept elsewhere and linked to: slurmctld looks for included files in its
 * own directory. */
static void linked_file(void)
{
    char path[PATH_MAX], home[PATH_MAX], relative[] = "topology.conf";

    snprintf(path, sizeof path, "%s/etc/slurm/topology.conf", root);
    tree_put(root, "srv/v17.conf", "SwitchName=s1 Switches=s[2-3]\nInclude leaves.conf\n");
    tree_put(root, "srv/leaves.conf", "SwitchName=old Nodes=n1\n");
    tree_put(root, "etc/slurm/leaves.conf", "SwitchName=s2 Nodes=n1\nSwitchName=s3 Nodes=n2\n");
    ok(symlink("../../srv/v17.conf", path) == 0, "a link");
    slurm_lines_clear(&lines);
    is_int(slurm_file_read(path, &lines, &err), 0, "a linked file is read");
    is_int(lines.count, 3, "... with the file beside the link that it includes");
    is_str(lines.file_count > 0 ? lines.files[0] : "", path, "... under the name of the link");
    ok(getcwd(home, sizeof home) && chdir(root) == 0 && chdir("etc/slurm") == 0, "a directory");
    slurm_lines_clear(&lines);
    is_int(slurm_file_read(relative, &lines, &err), 0, "... also by a relative path");
    is_int(lines.count, 3, "... with the same file");
    has_str(lines.file_count > 0 ? lines.files[0] : "", "/etc/slurm/topology.conf",
            "... under its whole path");
    ok(chdir(home) == 0, "back");
}

static void bad_files(void)
{
    tree_put(root, "etc/slurm/slurm.conf", "A=1\nInclude gone.conf\n");
    is_int(read_conf(), -1, "an Include of a missing file is an error");
    is_str(err.text,
           "/etc/slurm/slurm.conf:2: Include: /etc/slurm/gone.conf: No such file or directory",
           "... that names line and file");
    tree_put(root, "etc/slurm/slurm.conf", "Include slurm.conf\n");
    is_int(read_conf(), -1, "a file that includes itself is an error");
    has_str(err.text, "more than 8 deep", "... that says so");
    is_int(read_lines(root, "/etc/slurm", "gres.conf"), 1, "a missing file returns 1");
    tree_put(root, "etc/slurm/slurm.conf", "A=1\\");
    is_int(read_conf(), 0, "a file that ends in a continuation is read");
    is_int(lines.count, 1, "... with its line");
}

/* Half a file would have fewer nodes and devices than there are. */
static void lines_are_complete_or_absent(void)
{
    size_t complete, incomplete = 0;
    bool has_failed = true;

    read_conf();
    complete = lines.count;
    for (unsigned number = 1; has_failed; number++) {
        int status;

        memory_fails_at(number);
        status = read_conf();
        has_failed = memory_has_failed();
        memory_fails_at(0);
        incomplete += status == 0 && lines.count != complete;
    }
    is_int(incomplete, 0, "a file is read completely or not at all, whichever allocation fails");
}

/* More names than any buffer for a value of a line can hold. */
static void long_lists_are_complete(void)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    fputs("NodeName=odd0", stream);
    for (int i = 1; i < 3000; i++)
        fprintf(stream, ",odd%d-x", 7 * i);
    fputs(",last Gres=gpu:4\n", stream);
    fclose(stream);
    tree_put(root, "etc/slurm/slurm.conf", text);
    free(text);
    is_int(read_conf(), 0, "a line of %zu bytes is read", size);
    slurm_node_find(&lines, "last", &node);
    ok(node.is_found, "the last of its nodes is found");
    is_str(node.gres, "gpu:4", "... with its GRES");
}

static void long_files_are_refused(void)
{
    enum { SIZE = 4 << 20 };
    char *text = malloc(SIZE + 1);

    memset(text, '#', SIZE);
    strcpy(text + SIZE - 19, "\nNodeName=x[1-9999]");
    tree_put(root, "etc/slurm/slurm.conf", text);
    is_int(read_conf(), -1, "a file that is too long is an error");
    is_str(err.text, "/etc/slurm/slurm.conf: more than 4194303 bytes", "... that says so");
    free(text);
}

/* slurmd -f and $SLURM_CONF accept a file with any name. */
static void other_names(void)
{
    char directory[512], path[512], value[64];

    tree_put(root, "etc/slurm/slurm.conf", "ClusterName=old\n");
    tree_put(root, "etc/slurm/prod.conf", "ClusterName=prod\n");
    snprintf(path, sizeof path, "%s/etc/slurm/prod.conf", root);
    setenv("SLURM_CONF", path, 1);
    err.text[0] = '\0';
    is_int(slurm_directory("", directory, sizeof directory, &err), 0, "SLURM_CONF=prod.conf (%s)",
           err.text);
    is_int(read_lines("", directory, "slurm.conf"), 0, "... is read");
    slurm_lines_value(&lines, "ClusterName", value, sizeof value);
    is_str(value, "prod", "... and not the slurm.conf beside it");
    unsetenv("SLURM_CONF");
}

static void host_is(const char *host, const char *expected)
{
    char name[64];
    bool found;

    read_conf();
    found = slurm_node_of_host(&lines, host, name, sizeof name);
    is_str(name, expected, "the host %s is \"%s\"", host, expected);
    is_int(found, *expected != '\0', "... and it is %s", *expected ? "known" : "not known");
}

static void own_name_is(const char *host, const char *expected)
{
    char name[64];

    tree_put(root, "proc/sys/kernel/hostname", host);
    slurm_node_name(root, name, sizeof name);
    is_str(name, expected, "the node on the host %s has the name %s", host, expected);
}

/* NodeName may differ from the name of the host. */
static void names_of_hosts(void)
{
    tree_put(root, "etc/slurm/slurm.conf",
             "NodeName=DEFAULT NodeHostname=n9\n"
             "NodeName=n[1-2].example.org,alpha NodeHostname=n[1-2],c3 NodeAddr=10.0.0.[1-3]\n"
             "NodeName=n5.example.org,n6.a.org,n6.b.org\n"
             "NodeName=n[07-08]\n"
             "NodeName=x[1-2] NodeHostname=big Port=[7001-7002]\n"
             "nodename=one nodehostname=w1.a.org\nNodeName=two NodeHostname=w1\n"
             "NodeName=three NodeHostname=w1.b.org\n"
             "PartitionName=p Nodes=n3\n");
    host_is("n1", "n1.example.org");
    host_is("n2.elsewhere.net", "n2.example.org");
    host_is("c3", "alpha");
    host_is("alpha", "");
    host_is("n5.example.org", "n5.example.org");
    host_is("n5", "n5.example.org");
    host_is("n6", "");
    host_is("n6.b.org", "n6.b.org");
    host_is("n07", "n07");
    host_is("n7", "");
    host_is("n", "");
    host_is("n9", "");
    host_is("n3", "");
    host_is("big", "");
    host_is("w1", "two");
    host_is("w1.a.org", "two");
    host_is("", "");
    host_is("?", "");

    unsetenv("SLURMD_NODENAME");
    own_name_is("n2", "n2.example.org");
    own_name_is("n4.example.org", "n4");
    own_name_is("big", "big");
    setenv("SLURMD_NODENAME", "x2", 1);
    own_name_is("big", "x2");
    setenv("SLURMD_NODENAME", "", 1);
    own_name_is("c3", "alpha");
    unsetenv("SLURMD_NODENAME");
    tree_put(root, "etc/slurm/slurm.conf", "NodeName=n[1- NodeHostname=n1\n");
    own_name_is("n1", "n1");
}

static void directory_is(const char *expected)
{
    char directory[256];

    is_int(slurm_directory(root, directory, sizeof directory, &err), expected[0] ? 0 : -1,
           "the directory %s", expected[0] ? "is found" : "is not found");
    is_str(directory, expected, "... as '%s'", expected);
}

static void explicit_is(const char *text, bool expected)
{
    tree_put(root, "etc/slurm/gres.conf", text);
    read_lines(root, "/etc/slurm", "gres.conf");
    is_int(gres_is_explicit(&lines, "gpu", NULL), expected, "GPUs are%s explicit: %s",
           expected ? "" : " not", text);
    is_int(gres_is_explicit(&lines, "gpu", "n9"), 0, "... not those of n9");
}

/* Writes process 77, a slurmd of this user ID with these words; a blank ends each word. */
static void slurmd_is(const char *uid, const char *words)
{
    char text[128];

    snprintf(text, sizeof text, "Name:\tslurmd\nState:\tS (sleeping)\nUid:\t%s\t0\t0\t0\n", uid);
    tree_put(root, "proc/77/status", text);
    snprintf(text, sizeof text, "%s", words);
    for (char *blank = text; (blank = strchr(blank, ' ')); blank++)
        *blank = '\0';
    tree_put_bytes(root, "proc/77/cmdline", text, strlen(words));
}

/* An image still has a slurm.conf, beside the one that slurmctld sends to a configless slurmd. */
static void configless(void)
{
    char directory[256];

    slurmd_is("0", "/usr/sbin/slurmd -D ");
    directory_is(MUSTER_SLURMSYSCONFDIR);
    slurmd_is("0", "/usr/sbin/slurmd --conf-server head:6817 ");
    directory_is("/run/slurm/conf");
    is_int(slurm_client_directory(root, directory, sizeof directory, NULL), 0,
           "Slurm's commands on this node read a file too");
    is_str(directory, MUSTER_SLURMSYSCONFDIR, "... that of the host");
    slurmd_is("1000", "/tmp/slurmd --conf-server head:6817 ");
    directory_is(MUSTER_SLURMSYSCONFDIR);
}

int main(void)
{
    gpu_count_is("gpu:8", 8);
    gpu_count_is("gpu", 1);
    gpu_count_is("gpu:h100", 1);
    gpu_count_is("gpu:h100:8", 8);
    gpu_count_is("gpu=1", 1); /* as a TRES, for steps since Slurm 24.05 */
    gpu_count_is("gpu:a100=2", 2);
    gpu_count_is("gpuish=2", 0);
    gpu_count_is("gpu:a100:4(S:0-1)", 4);
    gpu_count_is("gpu:a:4(S:0,1),nic:2,gpu:b:2", 6);
    gpu_count_is("GPU:3", 3);
    gpu_count_is("gpus:8", 0);
    gpu_count_is("nic:2", 0);
    gpu_count_is("", 0);
    gpu_count_is("gpu:1g.5gb", 0);
    gpu_count_is("gpu:1g.5gb:7", 7);
    gpu_count_is("gpu:8x,gpu:2", 2);
    ok(slurm_gres_has_mig("gpu:1g.5gb:7"), "a type that is a MIG profile is recognized");
    ok(slurm_gres_has_mig("nic:2,gpu:h100:6,gpu:nvidia_a100_3g.20gb:2(S:0)"),
       "... also after a model");
    ok(slurm_gres_has_mig("gpu:1g.10gb+me:1"), "... with an extension");
    ok(!slurm_gres_has_mig("gpu:8"), "a GRES without a type has no MIG profile");
    ok(!slurm_gres_has_mig("gpu:h100:8,shard:1g.5gb"),
       "nor has another type, or a GRES of another name");
    ok(!slurm_gres_has_mig("gpu:big.5:8,gpu:1g.gb:1"),
       "nor has a type that only resembles a profile");
    gpu_count_is("gpu:2K", 2048);
    gpu_count_is("gpu:2m", 2097152);
    gpu_count_is("gpu:a100:1G", 1073741824);
    gpu_count_is("gpu:9999999999P,gpu:9999999999P", 2 * (LONG_MAX >> 10));
    value_is("NodeName=n1 Gres=gpu:8", "gres", "gpu:8");
    value_is("NodeName=n1 Gres=gpu:8", "Node", NULL);
    value_is("NodeName=n1 Gres=gpu:8", "Name", NULL);
    value_is("A=\"x y\" B=z", "A", "x y");
    value_is("A=\"x B=y\" B=z", "B", "z");
    value_is("A=\"x", "A", "x");
    value_is("A=", "A", "");
    value_is("stray A=1", "A", "1");
    value_is("= = \"", "A", NULL);
    value_is("NodeName = n1  Gres\t= gpu:8", "Gres", "gpu:8");
    value_is("NodeName = n1 Gres =gpu:8", "NodeName", "n1");
    value_is("NodeName = \"n 1\" Gres= gpu:8", "Gres", "gpu:8");
    value_is("Gres=", "Gres", "");
    value_is("A= ", "A", "");
    value_is("A=\"\"B=1", "B", "1");
    root = tree_unpack("");
    directory_is("");
    tree_put(root, "opt/slurm/etc/slurm.conf", "");
    directory_is("/opt/slurm/etc");
    tree_put(root, "usr/local/etc/slurm.conf", "");
    directory_is("/usr/local/etc");
    tree_put(root, "run/slurm/conf/slurm.conf", "");
    directory_is("/run/slurm/conf");
    tree_put(root, &MUSTER_SLURMSYSCONFDIR "/slurm.conf"[1], "");
    directory_is(MUSTER_SLURMSYSCONFDIR);
    configless();
    tree_put(root, "etc/slurm/slurm.conf", "");
    lines_are_read();
    lines_are_complete_or_absent();
    long_lists_are_complete();
    names_of_hosts();
    long_files_are_refused();
    other_names();
    cluster_in_include();
    nested_include();
    linked_file();
    bad_files();
    explicit_is("Name=gpu File=/dev/nvidia[0-7] Flags=nvidia_gpu_env", false);
    explicit_is("NodeName=n[1-8] Name=gpu File=/dev/nvidia0 Flags=nvidia_gpu_env,Explicit", true);
    explicit_is("Name=gpu File=/dev/nvidia0\nName=nic Flags=explicit", false);
    slurm_lines_clear(&lines);
    tree_remove(root);
    return tap_done();
}
