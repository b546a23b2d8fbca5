/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/safe_directory.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* All tests run in a temporary directory, which is the working directory. */

static void writes_to_own_directory(void)
{
    is_int(safe_directory_write("new/", "nodes", "some text\n", NULL), 0, "a directory is made");
    is_str(tree_text("new/nodes"), "some text\n", "... with the file in it");
    is_int(safe_directory_write("new", "nodes", "less\n", NULL), 0, "a second write to it works");
    is_str(tree_text("new/nodes"), "less\n", "... and replaces the file");
}

static void refuses_links(void)
{
    struct error err;

    mkdir("own", 0755);
    tree_put(".", "victim", "as it was\n");
    ok(symlink("../victim", "own/nodes") == 0 && symlink("own", "link") == 0, "two links are made");
    is_int(safe_directory_write("own", "nodes", "some text\n", &err), -1, "a file that is a link");
    is_str(err.text, "own/nodes: Too many levels of symbolic links", "... is refused");
    is_str(tree_text("victim"), "as it was\n", "... and the link's target is unchanged");
    is_int(safe_directory_write("link", "other", "some text\n", &err), -1,
           "a directory that is a link is refused");
    is_int(safe_directory_write("link/", "other", "some text\n", &err), -1,
           "... also with a trailing slash");
    ok(access("own/other", F_OK) != 0, "... and no file is written");
}

static void refuses_shared_directories(void)
{
    struct error err;

    mkdir("shared", 0755);
    chmod("shared", 01777);
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1,
           "a directory that all may write to is refused, as /tmp");
    has_str(err.text, "shared: belongs to uid ", "... the message has its owner");
    has_str(err.text, " and has mode 1777, expected uid ", "... and its mode");
    ok(access("shared/nodes", F_OK) != 0, "... and no file is written");
    chmod("shared", 0775);
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1,
           "a directory that its group may write to is refused");
    chmod("shared", 0755);
    if (geteuid() != 0 || chown("shared", 1234, 1234) != 0) {
        tap_skip("only root can give a directory away");
        return;
    }
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1,
           "another user's directory is refused");
}

static void trusts_only_owners_files(void)
{
    uid_t self = geteuid();
    struct error err;
    char *text;

    tree_put(".", "kept", "as it was\n");
    chmod("kept", 0644);
    is_int(regular_file_read_trusted("kept", self, 64, &text, &err), 0, "the process's own file");
    is_str(text, "as it was\n", "... is read");
    free(text);
    is_int(regular_file_read_trusted("kept", self + 1, 64, &text, &err), -1,
           "... another user's file is refused");
    has_str(err.text, "kept: expected a file owned by uid", "... and the message says why");
    is_int(symlink("kept", "named"), 0, "a link to such a file");
    is_int(regular_file_read_trusted("named", self, 64, &text, &err), -1, "... is refused");
    chmod("kept", 0664);
    is_int(regular_file_read_trusted("kept", self, 64, &text, &err), -1,
           "... so is a file that its group may write to");
    ok(text == NULL, "... with nothing read");
    is_int(regular_file_read_trusted("none", self, 64, &text, &err), 1, "a missing file returns 1");
    is_int(regular_file_read_trusted("kept/none", self, 64, &text, &err), 1,
           "... also if its directory is a file");
}

int main(void)
{
    char *root = tree_unpack("");

    if (chdir(root) != 0)
        tap_skip_all("%s cannot be entered", root);
    umask(022);
    writes_to_own_directory();
    refuses_links();
    refuses_shared_directories();
    trusts_only_owners_files();
    if (chdir("/") == 0)
        tree_remove(root);
    return tap_done();
}
