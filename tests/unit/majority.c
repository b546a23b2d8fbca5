/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/majority.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

int main(void)
{
    static const struct fact mtu[] = {
        {"n1", "mtu", "eth1", "9000"}, {"n2", "mtu", "eth1", "1500"}, {"n3", "mtu", "eth1", "9000"},
        {"n4", "mtu", "eth1", "9000"}, {"n1", "kernel", "", "6.1"},   {"n2", "kernel", "", "6.1"},
        {"n3", "kernel", "", "6.1"},   {"n4", "kernel", "", "5.14"},
    };
    static const struct fact missing[] = {
        {"n1", "speed", "eth2", "100"}, {"n2", "speed", "eth2", "100"},
        {"n3", "cpu.count", "", "2"},   {"n1", "cpu.count", "", "2"},
        {"n2", "cpu.count", "", "2"},
    };
    static const struct fact split[] = {
        {"n1", "mtu", "eth1", "9000"},
        {"n2", "mtu", "eth1", "1500"},
        {"n3", "mtu", "eth1", "9000"},
        {"n4", "mtu", "eth1", "1500"},
    };
    static const struct fact minority[] = {
        {"n1", "gpu.count", "", "8"},
        {"n1", "mtu", "eth0", "1500"},
        {"n2", "mtu", "eth0", "1500"},
        {"n3", "mtu", "eth0", "1500"},
    };
    struct oddity *oddities;

    is_int(majority_compare(mtu, 8, &oddities), 2, "two nodes are odd");
    is_str(oddities[0].node, "n4", "the other kernel is n4's");
    is_int(oddities[0].verdict, VERDICT_WARN, "... which is a warning");
    is_str(oddities[1].node, "n2", "the other MTU is n2's");
    is_int(oddities[1].verdict, VERDICT_FAIL, "... which breaks jobs");
    is_str(oddities[1].message, "eth1 mtu is 1500, 9000 on 3 of 4 nodes", "... and is said so");
    free(oddities);
    is_int(majority_compare(mtu, 2, &oddities), 0, "two nodes have no majority");
    free(oddities);
    is_int(majority_compare(missing, 5, &oddities), 1, "a missing fact is odd");
    is_str(oddities[0].node, "n3", "... on the node that lacks it");
    has_str(oddities[0].message, "eth2 speed is missing, 100 on 2 of 3", "... and is said so");
    free(oddities);
    is_int(majority_compare(split, 4, &oddities), 1, "half and half is reported once");
    is_int(oddities[0].verdict, VERDICT_WARN, "... and accuses nobody");
    free(oddities);
    is_int(majority_compare(minority, 4, &oddities), 0, "what few have and agree on is not odd");
    free(oddities);
    is_int(majority_compare(NULL, 0, &oddities), 0, "no facts, no oddities");
    free(oddities);
    return tap_done();
}
