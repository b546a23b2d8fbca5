/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hostlist.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expands(const char *text, size_t count, const char *first, const char *last)
{
    struct hostlist list;

    is_int(hostlist_expand(text, &list, NULL), 0, "\"%s\" expands", text);
    is_int(list.count, count, "... to %zu names", count);
    if (count > 0 && list.count == count) {
        is_str(list.names[0], first, "... the first is %s", first);
        is_str(list.names[count - 1], last, "... the last is %s", last);
    }
    hostlist_clear(&list);
}

static void refused(const char *text, const char *why)
{
    struct hostlist list;
    struct error err = {""};

    is_int(hostlist_expand(text, &list, &err), -1, "\"%s\" is refused", text);
    has_str(err.text, why, "... with the message \"%s\"", why);
    is_int(list.count, 0, "... and leaves an empty list");
}

static void folds_with(char *fold(const struct hostlist *list), const char *text,
                       const char *expected, const char *how)
{
    struct hostlist list;
    char *folded;

    hostlist_expand(text, &list, NULL);
    folded = fold(&list);
    is_str(folded, expected, "\"%s\" folds%s", text, how);
    free(folded);
    hostlist_clear(&list);
}

static void folds(const char *text, const char *expected)
{
    folds_with(hostlist_fold, text, expected, "");
}

/* For Slurm's commands and API, in the form that Slurm 22.05 reads too. */
static void folds_for_slurm(const char *text, const char *expected)
{
    folds_with(hostlist_fold_for_slurm, text, expected, " for Slurm");
}

static void expands_again(struct hostlist *list, char *folded)
{
    struct hostlist again;
    size_t found = 0;

    hostlist_expand(folded, &again, NULL);
    for (size_t i = 0; i < list->count; i++)
        found += hostlist_contains(&again, list->names[i]);
    is_int(found, list->count, "\"%s\" expands to all names", folded);
    is_int(again.count, list->count, "... and no other name");
    hostlist_clear(&again);
    free(folded);
}

static void qualified_names(void)
{
    static const char mixed[] =
        "n[8-9].a,n1.b,n1,alpha,beta.a,n[08-11].a,r[1-2]n[1-3].a,n1-ib,n2-ib,n7x9,eth1.100";
    struct hostlist list;

    folds("n1.example.org,n2.example.org", "n[1-2].example.org");
    folds("n[1-4].example.org,n7.example.org,login.example.org",
          "login.example.org,n[1-4,7].example.org");
    folds("n10.a,n1.a,n1.b,n2,n1", "n[1-2],n[1,10].a,n1.b");
    folds("n2.rack1,n1.rack1,n1.rack2", "n[1-2].rack1,n1.rack2");
    folds("n[08-11].a,n[099-101].a", "n[08-11].a,n[099-101].a");
    folds("n9.a,n10.a,n08.a", "n08.a,n[9-10].a");
    folds("r[1-2]n[1-2].a", "r1n[1-2].a,r2n[1-2].a");
    folds("n1-ib,n2-ib", "n[1-2]-ib");
    folds("gamma,alpha.a,beta.a,n1.a", "alpha.a,beta.a,gamma,n1.a");
    folds("n3.a,n3.a", "n3.a");
    folds("a.n1.b,a.n2.b", "a.n1.b,a.n2.b");
    folds("eth1.100,eth1.101,eth2.100", "eth1.[100-101],eth2.100");
    folds("10.0.0.1,10.0.0.2", "10.0.0.[1-2]");
    folds("n1.,n2.", "n[1-2].");
    folds("1.a,2.a", "[1-2].a");

    folds_for_slurm("n1.example.org,n2.example.org", "n1.example.org,n2.example.org");
    folds_for_slurm("n2.a,n3,n1,n1-ib,n2-ib,n1.a", "n[1,3],n1-ib,n1.a,n2-ib,n2.a");
    folds_for_slurm("n[1-2].rack[1-2]", "n1.rack[1-2],n2.rack[1-2]");
    folds_for_slurm("n[08-11],n2.a,n2.a", "n[08-11],n2.a");

    hostlist_expand(mixed, &list, NULL);
    expands_again(&list, hostlist_fold(&list));
    expands_again(&list, hostlist_fold_for_slurm(&list));
    hostlist_clear(&list);
    folds("n[1-65536].example.org", "n[1-65536].example.org");
    refused("n[1-65537].example.org", "more than");
    refused("n[1-300].r[1-300].org", "more than");
}

static void indexes_have_all_names(void)
{
    struct hostlist list, none = {0};
    struct name_index set;

    hostlist_expand("n[1-1000],n7,login", &list, NULL);
    is_int(hostlist_index(&list, &set), 0, "an index of a list is built");
    is_int(set.count, 1001, "... has each name once");
    for (size_t i = 0; i < list.count; i++)
        if (!name_index_has(&set, list.names[i]))
            ok(0, "... but not %s", list.names[i]);
    ok(!name_index_has(&set, "n1001") && !name_index_has(&set, ""), "... and no other name");
    name_index_clear(&set);
    ok(!name_index_has(&set, "n1"), "a cleared index has no name");
    hostlist_clear(&list);
    is_int(hostlist_index(&none, &set), 0, "an index of an empty list is built");
    ok(!name_index_has(&set, "n1"), "... and has no name");
    name_index_clear(&set);
}

static void lists_are_split(void)
{
    struct hostlist list, other, inside = {0}, outside = {0};

    hostlist_expand("n3,n1,n2,n1", &list, NULL);
    hostlist_expand("n[1,3],m1", &other, NULL);
    is_int(hostlist_split(&list, &other, &inside, &outside), 0, "a list is split by another");
    ok(inside.count == 3 && strcmp(inside.names[0], "n3") == 0 && outside.count == 1,
       "... its names in their order");
    is_str(outside.count ? outside.names[0] : "", "n2",
           "... and the names that the other lacks in a list of their own");
    is_int(hostlist_split(&other, &list, NULL, &outside), 0, "... without the common names");
    is_str(hostlist_text(&outside).text, "m1,n2", "... appends to what is there");
    is_int(hostlist_unite(&list, &other), 0, "what a list lacks is added");
    is_str(hostlist_text(&list).text, "m1,n[1-3]", "... by its name");
    is_int(list.count, 5, "... once");
    hostlist_clear(&list);
    hostlist_clear(&other);
    hostlist_clear(&inside);
    hostlist_clear(&outside);
}

static void text_is_cut(void)
{
    struct hostlist list = {0};
    struct hostlist_text text;
    char name[16];

    is_str(hostlist_text(&list).text, "", "an empty list has an empty text");
    for (int i = 1; i < 8000; i += 2) {
        snprintf(name, sizeof name, "n%d", i);
        hostlist_append(&list, name);
        if (i == 3)
            is_str(hostlist_text(&list).text, "n[1,3]", "the text of two names");
    }
    text = hostlist_text(&list);
    ok(strlen(text.text) < sizeof text.text, "a text of 4,000 names is cut to the buffer");
    is_str(text.text + strlen(text.text) - 3, "...", "... and ends with \"...\"");
    hostlist_clear(&list);
}

int main(void)
{
    text_is_cut();
    lists_are_split();
    indexes_have_all_names();
    qualified_names();
    expands("", 0, NULL, NULL);
    expands("n1", 1, "n1", "n1");
    expands("n[1-4]", 4, "n1", "n4");
    expands("n[01-10,12],login", 12, "n01", "login");
    expands("r[1-2]n[1-3]", 6, "r1n1", "r2n3");
    expands("n[1-2]-ib", 2, "n1-ib", "n2-ib");
    expands("n[1-65536]", HOSTLIST_MAX, "n1", "n65536");
    refused("n[1-4", "without a ]");
    refused("n1]", "without a [");
    refused("n]1[2-3]", "without a [");
    refused("n[4-1]", "reversed");
    refused("n[a]", "expected a number");
    refused("n[1-]", "after the -");
    refused("n[1;2]", "expected , or ]");
    refused("n[]", "expected a number");
    refused("n1,,n2", "empty name");
    refused("n[1-65537]", "more than");
    refused("a[1-300]b[1-300]", "more than");
    refused("n[1-18446744073709551615]", "more than");
    folds("n[1-4]", "n[1-4]");
    folds("n3,n1,n2,n2,login,n7", "login,n[1-3,7]");
    folds("n10,n9,n08", "n08,n[9-10]");
    folds("n[1-16]", "n[1-16]");
    folds("n[08-11],n[099-101]", "n[08-11],n[099-101]");
    folds("r1n1,r2n1,r10n[1-2]", "r10n[1-2],r1n1,r2n1");
    folds("n1", "n1");
    folds("login,login", "login");
    return tap_done();
}
