/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/completion.h"

#include <infiniband/verbs.h>
#include <stdio.h>

#include "lib/base/text.h"

/* The sentence for each status: %P is the port of the peer with its node, %p the own one. */
static const struct meaning {
    enum ibv_wc_status status;
    const char *sentence;
} meanings[] = {
    {IBV_WC_RETRY_EXC_ERR,
     "%P does not answer (transport retries exceeded): its port is down, the path drops packets, "
     "or the GID index or MTU does not match; check that port, its cable and switch port"},
    {IBV_WC_RNR_RETRY_EXC_ERR,
     "%P had no receive buffer posted for all retries (receiver not ready): its process is stuck "
     "or starved of processor time; the network carries data"},
    {IBV_WC_REM_ACCESS_ERR,
     "%P refused access to its memory (remote protection): key, address or rights do not match its "
     "registration; its software is at fault, not the network"},
    {IBV_WC_LOC_PROT_ERR, "the memory of this process is not registered for this access at %p "
                          "(local protection); software is at fault, not the network"},
    {IBV_WC_REM_INV_REQ_ERR,
     "%P rejected the request as invalid: it is longer than the receive buffer, or not allowed on "
     "this connection; its software is at fault, not the network"},
    {IBV_WC_REM_OP_ERR, "%P could not execute the request (remote operation error); check the "
                        "kernel log there for its device"},
    {IBV_WC_REM_ABORT_ERR, "%P aborted the request; check the kernel log there for its device"},
    {IBV_WC_LOC_LEN_ERR, "a message at %p is longer than its buffer or the port's limit; software "
                         "is at fault, not the network"},
    {IBV_WC_LOC_QP_OP_ERR,
     "the queue pair of %p had an error inside the device; check the kernel log for the device"},
    {IBV_WC_LOC_EEC_OP_ERR,
     "the queue pair of %p had an error inside the device; check the kernel log for the device"},
    {IBV_WC_MW_BIND_ERR,
     "cannot bind a memory window of %p; software is at fault, not the network"},
    {IBV_WC_LOC_ACCESS_ERR,
     "%P wrote to memory at %p without permission; its software is at fault, not the network"},
    {IBV_WC_BAD_RESP_ERR, "%P sent malformed replies to %p; compare their firmware and drivers"},
    {IBV_WC_WR_FLUSH_ERR, "the connection of %p broke earlier; see its first message"},
    {IBV_WC_RESP_TIMEOUT_ERR,
     "%P does not answer in time; check that port, its cable and switch port"},
    {IBV_WC_FATAL_ERR, "the device of %p failed; check the kernel log, it may need a reset"},
    {IBV_WC_GENERAL_ERR, "%p failed without a reason; check the kernel log for its device"},
};

static void fill_in(const char *sentence, const struct completion_ends *ends, char *text,
                    size_t size)
{
    for (; *sentence; sentence++) {
        if (*sentence != '%') {
            text_join(text, size, "", "%c", *sentence);
            continue;
        }
        sentence++;
        text_join(text, size, "", "%s", *sentence == 'p' ? ends->port : ends->peer_port);
        if (*sentence == 'P' && ends->peer && *ends->peer)
            text_join(text, size, "", " of %s", ends->peer);
    }
}

void completion_explain(int status, uint32_t vendor, const struct completion_ends *ends, char *text,
                        size_t size)
{
    snprintf(text, size, "%s: ", verb_name(ends->verb));
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if ((int)meanings[i].status == status) {
            fill_in(meanings[i].sentence, ends, text, size);
            return;
        }
    text_join(text, size, "", "%s ended with libibverbs status %d (vendor error 0x%x)", ends->port,
              status, (unsigned)vendor);
}
