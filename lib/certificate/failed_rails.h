/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FAILED_RAILS_H
#define MUSTER_FAILED_RAILS_H

#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/base/hostlist.h"

/* The rails that failed certification and were let pass by AllowFailedRails: the certificate's test
 * lines "links eth2: 49 Mb/s rail_slow" name them, where anything behind the figure is a fault
 * code. One that is not in this muster's catalogue is of a newer one, or the "failed" of an older
 * one: that rail failed as well. */
struct failed_rails {
    struct hostlist rails; /* in the order of the lines */
    char why[64];          /* "failed certification 2026-11-20"; "" without any */
};

/* From a certificate that was parsed. Returns 0, or -1 when memory is out, with none. Release it
 * with failed_rails_clear(). */
int failed_rails_of(const struct certificate *certificate, struct failed_rails *failed);

/* From this node's certificate, where conf allows failed rails. The file has to be root's, as
 * certificate_check() wants it; its seal is not verified, that is the gate's to do, and an expired
 * one still tells. Anything else is none. Reads a file. */
void failed_rails_read(const struct conf *conf, struct failed_rails *failed);

void failed_rails_clear(struct failed_rails *failed);

#endif
