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

static void writes_into_a_directory_of_ones_own(void)
{
    struct error err;

    is_int(safe_directory_write("new/", "nodes", "some text\n", &err), 0, "a new directory");
    is_str(tree_text("new/nodes"), "some text\n", "has the file");
    is_int(safe_directory_write("new", "nodes", "less\n", &err), 0, "a second time");
    is_str(tree_text("new/nodes"), "less\n", "the file is written anew");
}

static void follows_no_link(void)
{
    struct error err;

    mkdir("own", 0755);
    tree_put(".", "victim", "as it was\n");
    ok(symlink("../victim", "own/nodes") == 0 && symlink("own", "link") == 0, "links");
    is_int(safe_directory_write("own", "nodes", "some text\n", &err), -1, "a link in its place");
    is_str(err.text, "own/nodes: Too many levels of symbolic links", "is refused");
    is_str(tree_text("victim"), "as it was\n", "what it leads to is left alone");
    is_int(safe_directory_write("link", "other", "some text\n", &err), -1, "a directory by a link");
    is_int(safe_directory_write("link/", "other", "some text\n", &err), -1,
           "... also with a slash behind it");
    ok(access("own/other", F_OK) != 0, "nothing is written");
}

static void refuses_where_others_may_write(void)
{
    struct error err;

    mkdir("shared", 0755);
    chmod("shared", 01777);
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1, "as /tmp");
    has_str(err.text, "shared: belongs to uid ", "its owner is named");
    has_str(err.text, " and has mode 1777, expected uid ", "and its mode");
    ok(access("shared/nodes", F_OK) != 0, "nothing is written");
    chmod("shared", 0775);
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1, "a group's");
    chmod("shared", 0755);
    if (geteuid() != 0 || chown("shared", 1234, 1234) != 0) {
        tap_skip("only root can give a directory away");
        return;
    }
    is_int(safe_directory_write("shared", "nodes", "some text\n", &err), -1, "somebody else's");
}

static void trusts_what_only_the_owner_wrote(void)
{
    uid_t self = geteuid();
    struct error err;
    char *text;

    tree_put(".", "kept", "as it was\n");
    chmod("kept", 0644);
    is_int(regular_file_read_trusted("kept", self, 64, &text, &err), 0, "a file of one's own");
    is_str(text, "as it was\n", "... is read");
    free(text);
    is_int(regular_file_read_trusted("kept", self + 1, 64, &text, &err), -1, "... not another's");
    has_str(err.text, "kept: expected a file owned by uid", "... which is said");
    is_int(symlink("kept", "named"), 0, "a link to it");
    is_int(regular_file_read_trusted("named", self, 64, &text, &err), -1, "... is refused");
    chmod("kept", 0664);
    is_int(regular_file_read_trusted("kept", self, 64, &text, &err), -1,
           "... and what its group may have written");
    ok(text == NULL, "... with nothing read");
    is_int(regular_file_read_trusted("none", self, 64, &text, &err), 1, "none is there");
    is_int(regular_file_read_trusted("kept/none", self, 64, &text, &err), 1, "... nor beside it");
}

int main(void)
{
    char *root = tree_unpack("");

    if (chdir(root) != 0)
        tap_skip_all("%s cannot be entered", root);
    umask(022);
    writes_into_a_directory_of_ones_own();
    follows_no_link();
    refuses_where_others_may_write();
    trusts_what_only_the_owner_wrote();
    if (chdir("/") == 0)
        tree_remove(root);
    return tap_done();
}
