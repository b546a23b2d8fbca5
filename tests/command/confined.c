/* SPDX-License-Identifier: Apache-2.0 */
/* confined [--write] COMMAND [ARGUMENT ...]: runs a command that may not read the memory of other
 * processes, as in containers and with Yama's ptrace_scope; with --write, may read but not write
 * it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    bool may_read = argc > 1 && strcmp(argv[1], "--write") == 0;
    unsigned call = may_read ? SYS_process_vm_writev : SYS_process_vm_readv;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};

    argv += may_read;
    argc -= may_read;
    if (argc < 2) {
        fprintf(stderr, "usage: confined [--write] COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("confined: seccomp");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
