/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FAILED_RAILS_H
#define MUSTER_FAILED_RAILS_H

#include "lib/base/hostlist.h"
#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"

/* The rails that failed certification and that AllowFailedRails permits. The certificate's test
 * lines "links eth2: 49 Mb/s rail_slow" name them; the word after the figure is a fault code. A
 * code that is not in this muster's catalog is from a newer muster, or the "failed" of an older
 * one: that rail failed too. */
struct failed_rails {
    struct hostlist rails; /* in the order of the lines */
    char why[64];          /* "failed certification 2026-11-20"; "" without any */
};

/* Reads the failed rails of a parsed certificate. Returns 0, or -1 without rails if memory is out.
 * Release it with failed_rails_clear(). */
int failed_rails_of(const struct certificate *certificate, struct failed_rails *failed);

/* Reads the failed rails from this node's certificate file, if conf allows failed rails. The file
 * must pass the checks of certificate_check() as root's. The certificate may be expired, and its
 * seal is not verified (the gate does that). In any other case there are no failed rails. */
void failed_rails_read(const struct conf *conf, struct failed_rails *failed);

void failed_rails_clear(struct failed_rails *failed);

#endif
