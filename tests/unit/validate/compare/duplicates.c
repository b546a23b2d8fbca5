/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/duplicates.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

static void finds_addresses_and_macs(void)
{
    struct identity identities[] = {
        {"n3", "address", "eth1", "10.1.1.3"},      {"n2", "address", "eth1", "10.1.1.3"},
        {"n1", "address", "eth1", "10.1.1.1"},      {"n1", "mac", "eth1", "02:00:00:00:00:01"},
        {"n2", "mac", "eth2", "02:00:00:00:00:01"}, {"n2", "address", "eth2", "10.1.1.1"},
        {"n4", "address", "eth1", "10.1.1.4"},      {"n4", "address", "eth2", "10.1.1.4"},
        {"n5", "address", "eth1", "169.254.0.1"},   {"n4", "address", "eth1", "169.254.0.1"},
        {"n5", "mac", "eth1", "00:00:5e:00:01:07"}, {"n4", "mac", "eth1", "00:00:5e:00:01:07"},
        {"n5", "mac", "eth2", "00:00:00:00:00:00"}, {"n4", "mac", "eth2", "00:00:00:00:00:00"},
        {"n5", "guid", "mlx5_0:1", "10.1.1.4"},
    };
    struct duplicate *duplicates;
    char text[256];

    is_int(duplicates_find(identities, sizeof identities / sizeof *identities, 5, &duplicates), 3,
           "two addresses and a MAC that two nodes share");
    is_str(duplicates[0].identities[0].value, "10.1.1.1", "one address");
    duplicate_message(&duplicates[0], 0, text, sizeof text);
    is_str(text, "eth1 has the address 10.1.1.1, and so has n2 (eth2); give one of them another",
           "... the message for the first node");
    duplicate_message(&duplicates[0], 1, text, sizeof text);
    is_str(text, "eth2 has the address 10.1.1.1, and so has n1 (eth1); give one of them another",
           "... the message for the second node");
    ok(!duplicates[0].is_common, "... it is a mistake, not common");
    duplicate_message(&duplicates[2], 0, text, sizeof text);
    is_str(text,
           "eth1 has the MAC 02:00:00:00:00:01, and so has n2 (eth2); give one of them another",
           "a MAC");
    free(duplicates);
}

/* The firmware of a card was copied from another card. */
static void finds_guids(void)
{
    struct identity identities[] = {{"n1", "guid", "mlx5_0:1", "0002:c903:0010:1234"},
                                    {"n2", "guid", "mlx5_1:1", "0002:c903:0010:1234"},
                                    {"n3", "guid", "mlx5_0:1", "0002:c903:0010:1235"}};
    struct duplicate *duplicates;
    char text[256];

    is_int(duplicates_find(identities, 3, 5, &duplicates), 1, "a GUID that two ports share");
    duplicate_message(&duplicates[0], 0, text, sizeof text);
    has_str(text, "mlx5_0:1 has the GUID 0002:c903:0010:1234, and so has n2 (mlx5_1:1)",
            "... with both ports in the message");
    free(duplicates);
}

/* Behind NAT all virtual machines have the same address. */
static void marks_common_duplicates(void)
{
    struct identity identities[] = {{"n1", "address", "eth0", "10.0.2.15"},
                                    {"n2", "address", "eth0", "10.0.2.15"},
                                    {"n3", "address", "eth0", "10.0.2.15"}};
    struct duplicate *duplicates;
    char text[256];

    is_int(duplicates_find(identities, 3, 4, &duplicates), 1,
           "three of four nodes share an address");
    ok(duplicates[0].is_common, "... it is common");
    duplicate_message(&duplicates[0], 1, text, sizeof text);
    is_str(text,
           "eth0 has the address 10.0.2.15, and so have n1 (eth0) and 1 more; give each its "
           "own",
           "... the message names them");
    free(duplicates);
    is_int(duplicates_find(identities, 3, 6, &duplicates), 1, "three of six nodes share it");
    ok(!duplicates[0].is_common, "... it is not common");
    free(duplicates);
    is_int(duplicates_find(identities, 2, 2, &duplicates), 1, "two of two nodes share it");
    ok(!duplicates[0].is_common, "... it is not common");
    free(duplicates);
    is_int(duplicates_find(NULL, 0, 0, &duplicates), 0, "no identities have no duplicates");
}

int main(void)
{
    finds_addresses_and_macs();
    finds_guids();
    marks_common_duplicates();
    return tap_done();
}
