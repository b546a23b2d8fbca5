/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/splitmix.h"
#include "lib/conf/conf.h"
#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/spank-host/life.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Lives of jobs with random options, environments, certificates, configurations, plugstack words,
 * SPANK_ variables and machines: no process crashes or hangs, no hook breaks a rule of watch.h,
 * nothing is printed, each message is one printable line, and each refusal has a message.
 *
 *   fuzz.t                   the test: a fixed number of lives from a fixed seed
 *   fuzz.t SECONDS [SEED]    random lives for that time
 *   fuzz.t --life SEED       one life by the seed that a failure names; prints its inputs
 *
 * tests/spank-host/fuzz calls it. */

enum { TEST_LIVES = 60, TEXT = 1 << 18, FILES = 8192 };

/* ---------------------------------------------------------------- random numbers */

static uint64_t random_state;

static uint64_t random_next(void)
{
    return splitmix_next(&random_state);
}

static unsigned below(unsigned limit)
{
    return (unsigned)(random_next() % limit);
}

static bool one_in(unsigned n)
{
    return below(n) == 0;
}

/* ---------------------------------------------------------------- texts */

static const char values[] =
    "~~on~off~yes~no~1~0~-1~2147483648~18446744073709551616~1e309~nan~(null)~%s%n%s~\033[2J"
    "~n[1-2]~n[1-4294967295]~n[1-3,7~[[~n2,n1~n[001-128]~eth0~eth1,eth2~mlx5_0:1,mlx5_1~/"
    "~/dev/zero~/proc/self/mem~/nowhere~refuse~log~ignore~25%~100%~200Mb/s~eth1:200Mb/s~7d~60s"
    "~20000-29999~99999-1~=~==~#~\"~\\~a=b=c~arbitrary~block:cyclic~GPU-0~0,1,2,3"
    "~RANK:0123456789abcdef~RANK:,:,::,X:~\xff\xfe~unlimited~4096~quick~standard~COMPOSITE~0.1,3"
    "~eth[1-2] mtu=9000 up=yes~a nodes=n[1-3] fabric=RoCEv2~NCCL_IB_TC set 106 fabric=RoCEv2"
    "~UCX_TLS forbid";

static const char names[] =
    "~RANK~LOCAL_RANK~WORLD_SIZE~MASTER_ADDR~MASTER_PORT~MUSTER_SET~MUSTER_ENVIRONMENT"
    "~MUSTER_EXPLAIN~UCX_NET_DEVICES~NCCL_IB_HCA~NCCL_SOCKET_IFNAME~OMPI_MCA_btl_tcp_if_include"
    "~GLOO_SOCKET_IFNAME~SLURM_DISTRIBUTION~SLURM_HET_SIZE~SLURM_ARBITRARY_NODELIST"
    "~SLURM_JOB_NODELIST_HET_GROUP_0~SLURM_PACK_SIZE~CUDA_VISIBLE_DEVICES~ROCR_VISIBLE_DEVICES"
    "~HIP_VISIBLE_DEVICES~SLURM_JOB_GPUS~SLURM_STEP_GPUS~HABANA_VISIBLE_DEVICES"
    "~HABANA_VISIBLE_MODULES~ZE_AFFINITY_MASK~ZE_FLAT_DEVICE_HIERARCHY~MUSTER_PREFLIGHT"
    "~SLURM_SPANK__SLURM_SPANK_OPTION_muster_preflight~_SLURM_SPANK_OPTION_muster_preflight"
    "~SLURM_HET_JOB_ID~SLURM_JOB_NODELIST_HET_GROUP_1~SLURM_JOB_NODELIST_PACK_GROUP_0"
    "~SLURM_STEP_NODELIST~SLURM_SPANK__SLURM_SPANK_OPTION_muster_muster"
    "~SLURM_SPANK__SLURM_SPANK_OPTION_muster_muster_explain~_SLURM_SPANK_OPTION_muster_muster"
    "~PATH~HOME~LD_LIBRARY_PATH~MUSTER_CONF~SLURM_JOB_ACCOUNT~SLURM_JOB_PARTITION"
    "~SLURM_CLUSTER_NAME~SLURM_TASKS_PER_NODE";

/* A random word of a list, valid until the next call. The list's first byte separates words. */
static const char *pick(const char *list)
{
    const char mark[] = {*list, '\0'};
    static char word[64];
    unsigned count = 0;

    for (const char *c = list; *c != '\0'; c++)
        count += *c == *mark;
    for (count = below(count); count > 0; count--)
        list = strchr(list + 1, *mark);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(list + 1, mark), list + 1);
    return word;
}

struct text {
    char *bytes;
    size_t length;
};

static void add(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > TEXT)
        length = TEXT - 1 - text->length;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void add_string(struct text *text, const char *string)
{
    add(text, string, strlen(string));
}

/* Adds a word of the list of values, a number, random bytes without NUL, or one byte repeated up to
 * 150000 times; in one case of five another one after it. */
static void add_value(struct text *text)
{
    char number[32], byte;
    unsigned count;

    switch (below(8)) {
    default:
        add_string(text, pick(values));
        break;
    case 5:
        snprintf(number, sizeof number, "%" PRId64, (int64_t)random_next() >> below(64));
        add_string(text, number);
        break;
    case 6:
        for (count = below(one_in(20) ? 5000 : 40); count > 0; count--) {
            byte = (char)(1 + below(255));
            if (byte != '\n')
                add(text, &byte, 1);
        }
        break;
    case 7:
        byte = "x,[9 :"[below(6)];
        for (count = one_in(30) ? below(150000) : below(300); count > 0; count--)
            add(text, &byte, 1);
        break;
    }
    if (one_in(5)) {
        add(text, &",:= -/[]"[below(8)], 1);
        add_value(text);
    }
}

static char *value_text(void)
{
    static char bytes[TEXT];
    struct text text = {bytes, 0};

    bytes[0] = '\0';
    add_value(&text);
    return bytes;
}

static void add_assignments(struct text *text, const char *prefix, unsigned most)
{
    for (unsigned count = below(most); count > 0; count--) {
        add_string(text, prefix);
        if (one_in(8))
            add_value(text);
        else
            add_string(text, pick(names));
        add_string(text, "=");
        add_value(text);
        add_string(text, "\n");
    }
}

static void add_options(struct text *text)
{
    for (unsigned count = below(4); count > 0; count--) {
        add_string(text, one_in(4)   ? "collectives"
                         : one_in(3) ? "preflight"
                         : one_in(2) ? "muster"
                                     : "muster-explain");
        if (!one_in(4)) {
            add_string(text, "=");
            add_string(text, one_in(4)   ? "on"
                             : one_in(3) ? "off"
                             : one_in(2) ? "quick"
                                         : value_text());
        }
        add_string(text, "\n");
    }
}

/* Adds random lines with keys of muster.conf. CertificateFile is the test's own file, or absent. */
static void add_conf(struct text *text)
{
    static size_t keys;
    const char *name, *value;

    while (keys == 0 || conf_key(keys, &name, NULL, NULL) == 0)
        keys++;
    for (unsigned count = below(8); count > 0; count--) {
        if (conf_key(below((unsigned)keys), &name, &value, NULL) < 0 ||
            strcmp(name, "CertificateFile") == 0)
            continue;
        if (one_in(30)) {
            add_value(text);
        } else {
            add_string(text, name);
            add_string(text, one_in(20) ? " = " : "=");
            add_string(text, one_in(2) ? value : value_text());
        }
        add_string(text, one_in(30) ? "\r\n" : "\n");
    }
    if (!one_in(10)) {
        add_string(text, "CertificateFile=");
        add_string(text, fixture_path("certificate"));
        add_string(text, "\n");
    }
}

/* ---------------------------------------------------------------- files */

static char *tree_roots[16];
static char *tree_files[FILES];
static unsigned tree_count, tree_file_count;
static char certificate_text[65536];
static size_t certificate_length;

static int note_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
    if (type == FTW_F && S_ISREG(status->st_mode) && tree_file_count < FILES)
        tree_files[tree_file_count++] = strdup(path);
    return 0;
}

static void unpack_trees(void)
{
    static const char *const trees[] = {"lab-node", "h100-ib", "gaudi3",      "bond",
                                        "broken",   "aurora",  "two-fabrics", "nd-a100-v4"};

    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        tree_roots[tree_count] = tree_unpack(trees[i]);
        nftw(tree_roots[tree_count++], note_file, 16, FTW_PHYS);
    }
}

static void put_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *stream = fopen(path, "w");

    if (stream == NULL)
        return;
    fwrite(bytes, 1, length, stream);
    fclose(stream);
}

/* Files of the recorded machine that were changed; restore_files() restores them. */
static struct {
    const char *path;
    char bytes[4096];
    size_t length;
} changed[6];
static unsigned changed_count;

static void change_files(void)
{
    changed_count = 0;
    for (unsigned count = below(6); count > 0; count--) {
        const char *path = tree_files[below(tree_file_count)];
        struct stat status;
        FILE *stream;

        /* a file that was chosen before may be a pipe now */
        if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode))
            continue;
        stream = fopen(path, "r");
        if (stream == NULL)
            continue;
        changed[changed_count].path = path;
        changed[changed_count].length =
            fread(changed[changed_count].bytes, 1, sizeof changed->bytes, stream);
        fclose(stream);
        changed_count++;
        unlink(path);
        switch (below(6)) {
        case 0:
            break;
        case 1:
            mkdir(path, 0755);
            break;
        case 2:
            mkfifo(path, 0644);
            break;
        case 3:
            if (symlink(one_in(2) ? path : "/dev/zero", path) < 0)
                break;
            break;
        default:
            put_bytes(path, value_text(), strlen(value_text()));
        }
    }
}

static void restore_files(void)
{
    while (changed_count > 0) {
        changed_count--;
        remove(changed[changed_count].path);
        put_bytes(changed[changed_count].path, changed[changed_count].bytes,
                  changed[changed_count].length);
    }
}

static void read_certificate(void)
{
    FILE *stream;

    put_certificate(VALID);
    stream = fopen(fixture_path("certificate"), "r");
    certificate_length = fread(certificate_text, 1, sizeof certificate_text, stream);
    fclose(stream);
}

static void change_certificate(void)
{
    static char bytes[sizeof certificate_text];
    size_t length = certificate_length;
    const char *path = fixture_path("certificate");

    remove(path);
    memcpy(bytes, certificate_text, length);
    switch (below(6)) {
    case 0:
        return;
    case 1:
        put_bytes(path, bytes, length);
        return;
    case 2: /* cut */
        put_bytes(path, bytes, below((unsigned)length));
        return;
    case 3:
        mkdir(path, 0755);
        return;
    case 4:
        put_bytes(path, value_text(), strlen(value_text()));
        return;
    default:
        for (unsigned count = 1 + below(10); count > 0; count--)
            bytes[below((unsigned)length)] = (char)below(256);
        put_bytes(path, bytes, length);
    }
}

/* ---------------------------------------------------------------- a life */

static struct text options, step_options, environment, spank, conf, words, program;

static void make_life(struct life *life)
{
    static const char programs[] =
        "~./a.out~orted -x~torchrun a.py~python3 -m torch.distributed.run~prted~~ ";
    struct text *const all[] = {&options, &step_options, &environment, &spank,
                                &conf,    &words,        &program};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->bytes == NULL)
            all[i]->bytes = malloc(TEXT);
        all[i]->length = 0;
        all[i]->bytes[0] = '\0';
    }
    *life = (struct life){.name = "random"};
    life->front = (enum life_front)below(3);
    add_options(&options);
    add_options(&step_options);
    add_assignments(&environment, "", 10);
    add_assignments(&spank, "SPANK_", 5);
    add_conf(&conf);
    /* a preflight that passes at once, or that cannot be run */
    add_string(&words, one_in(8) ? "program=/no/such root=" : "program=/bin/true root=");
    add_string(&words, tree_roots[below(tree_count)]);
    if (one_in(8)) {
        add_string(&words, one_in(2) ? " config=" : " root=");
        add_value(&words);
    }
    if (one_in(8)) {
        add_string(&words, " ");
        add_value(&words);
    }
    if (one_in(4))
        add_value(&program);
    else
        add_string(&program, pick(programs));
    life->options = options.bytes;
    life->step_options = step_options.bytes;
    life->environment = environment.bytes;
    life->spank = spank.bytes;
    life->conf = one_in(10) ? NULL : conf.bytes;
    life->plugstack_arguments = words.bytes;
    life->argv = program.bytes;
    life->tasks = 1 + (int)below(LIFE_TASKS);
    life->component_first = one_in(5) ? 1 + (int)below(8) : 0;
    life->is_export_none = one_in(6);
    life->is_listed_twice = one_in(6);
    life->is_callback_twice = one_in(2);
    life->is_root = one_in(10);
    life->api_fails_at = one_in(8) ? 1 + (int)below(40) : 0;
}

/* Returns what is wrong with a life, or NULL. */
static const char *judge(const struct outcome *outcome)
{
    if (*outcome->broken != '\0')
        return outcome->broken;
    if (*outcome->printed != '\0')
        return outcome->printed;
    for (const char *c = host_log; *c != '\0'; c++)
        if (*c != '\n' && iscntrl((unsigned char)*c))
            return "a control character in the log";
    if (strstr(host_log, "\n\n") != NULL)
        return "an empty line in the log";
    if (strlen(host_log) > HOST_LOG / 2)
        return "a flood in the log";
    if ((outcome->front < 0 || outcome->step_front < 0) && strstr(host_log, "error: ") == NULL)
        return "refused without a word";
    if (outcome->prolog < 0 && strstr(host_log, "refused by ") == NULL)
        return "the gate refuses without a word";
    return NULL;
}

static void show(const struct life *life)
{
    printf("# front %d, tasks %d, component %d, flags %d%d%d%d, call %d fails\n# options: %s\n"
           "# step's: %s\n# environment: %s\n# spank: %s\n# words: %s\n# program: %s\n# conf: %s\n",
           life->front, life->tasks, life->component_first, life->is_export_none,
           life->is_listed_twice, life->is_callback_twice, life->is_root, life->api_fails_at,
           life->options, life->step_options, life->environment, life->spank,
           life->plugstack_arguments, life->argv, life->conf != NULL ? life->conf : "(none)");
}

/* Runs the life of this seed. Returns whether it was correct. */
static bool live(uint64_t seed, bool is_shown)
{
    struct life life;
    const char *wrong;

    random_state = seed;
    make_life(&life);
    change_files();
    if (certificate_length > 0)
        change_certificate();
    if (is_shown)
        show(&life);
    wrong = judge(life_run(&life));
    if (is_shown)
        printf("%s", host_log);
    restore_files();
    if (wrong != NULL)
        tap_diag("life %016" PRIx64 ": %s\nlog: %.2000s", seed, wrong, host_log);
    return wrong == NULL;
}

int main(int argc, char *argv[])
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 0, lives = 0, wrong = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 16) : argc > 1 ? (uint64_t)time(NULL) : 1;
    time_t end;

    fixture_begin(argv);
    if (geteuid() == 0 && !fixture_isolate())
        tap_skip_all("no namespaces to keep random settings away from this machine");
    life_use(fixture_plugin(), fixture_directory(), false);
    unpack_trees();
    if (geteuid() == 0)
        read_certificate();
    end = time(NULL) + seconds;
    if (argc > 2 && strcmp(argv[1], "--life") == 0) {
        wrong = !live(seed, true);
        lives = 1;
    } else {
        tap_diag("seed %" PRIx64, seed);
        for (; seconds > 0 ? time(NULL) < end : lives < TEST_LIVES; lives++) {
            random_state = seed + (uint64_t)lives;
            wrong += !live(random_next(), false);
        }
    }
    is_int(wrong, 0, "%ld random lives: nothing breaks", lives);
    for (unsigned i = 0; i < tree_count; i++)
        tree_remove(tree_roots[i]);
    remove(fixture_path("certificate"));
    fixture_end();
    return tap_done();
}
