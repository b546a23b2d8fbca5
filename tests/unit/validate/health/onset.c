/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/onset.h"

#include <stdio.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

int main(void)
{
    char *root = tree_unpack(""), path[512], test[32];

    snprintf(path, sizeof path, "%s/state/onset", root);
    ok(!onset_read_test(path, test), "at first no fault is noted");
    is_int(onset_update(path, "net.interfaces link_down eth1", 1000), 1000,
           "a fault begins with the check that finds it");
    is_int(onset_update(path, "net.interfaces link_down eth1", 9000), 1000,
           "... and lasts while checks find it");
    ok(onset_read_test(path, test), "... so it is noted");
    is_str(test, "net.interfaces", "... with the test that found it");
    is_int(onset_update(path, "link_down eth2", 9000), 9000, "another fault begins anew");
    is_int(onset_update(path, "", 9100), 9100, "a check without fault");
    is_int(onset_update(path, "link_down eth2", 9200), 9200, "... ends it");
    is_int(onset_update(path, "link_down eth2", 9000), 9000,
           "a fault with a later time, of another boot, begins anew");
    tree_put(root, "state/onset", "not a time\n");
    is_int(onset_update(path, "gpu_missing ", 9300), 9300,
           "... and so it does after an invalid file");
    is_int(onset_update(path, "gpu_missing ", 9400), 9300, "... which is replaced");
    tree_remove(root);
    return tap_done();
}
