/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/report/advice.h"

#include <stdbool.h>
#include <string.h>

/* The first row that fits counts: test as a beginning, word somewhere in part or message. "" fits
 * all. */
static const struct {
    const char *test, *word, *text;
} advice[] = {
    {"links", "uplink ",
     "Look at the cables and ports between these two leaf switches; the nodes behind them are not "
     "accused."},
    {"links", "path ",
     "Look at what only this pair shares: a cable or port between its switches, or their routes. "
     "Neither node is accused."},
    {"links", "all ",
     "The whole rail is slow: look at its switches, the MTU and the speed that was negotiated "
     "before any node."},
    {"links", "two good nodes", "Name a second node that is good: links are measured in pairs."},
    {"links", "not steady", "Measure again when the nodes are idle."},
    {"links", "us (", "Look for a busy core, power saving or another path of this NIC."},
    {"links", "no carrier", "Reseat the cable; look at the transceiver and the switch port."},
    {"links", " % of what it ",
     "Packets are lost or damaged: clean and reseat the cable, change the transceiver, look at the "
     "switch port's error counters."},
    {"links", "damaged",
     "Replace the cable or transceiver and measure again; if it stays, replace the NIC."},
    {"links", "another",
     "Its data went another way than this NIC: look at the link, its address and its driver."},
    {"links", "",
     "Swap the cable to another switch port and measure again: if the fault stays, replace the "
     "NIC; if it goes, the cable or the port."},
    {"net.interfaces", "no carrier",
     "Reseat the cable; look at the transceiver and the switch port."},
    {"net.interfaces", "MTU", "Set the MTU that the other rails have, on the node and the switch."},
    {"net.interfaces", "PCIe",
     "Reseat the NIC; look at the BIOS setting of its slot. Lanes that stay away: replace it."},
    {"net.interfaces", "error",
     "Clean or replace the cable and transceiver; watch whether the counter goes on rising."},
    {"net.interfaces", "", "Compare the interface with the same one of a node that passed."},
    {"net.addresses", "",
     "Find the other host by its name or its MAC in the switches' tables; give one of the two "
     "another address."},
    {"gpu.enumerate", "",
     "Look for the GPU in lspci and the kernel's log; reseat it or cycle the node's power."},
    {"gpu.health", "PCIe", "Reseat the GPU; look at the riser and the BIOS setting of its slot."},
    {"gpu.health", "", "Reset the GPU, and replace it when the error comes back."},
    {"slurm.gres", "", "Compare gres.conf and slurm.conf with the devices on the node."},
    {"host.limits", "", "Raise the limit where slurmd gets it: slurmd's unit file or limits.conf."},
    {"host.munge", "", "Compare the node's MUNGE key and clock with the controller's."},
    {"host.clock", "", "Look at the node's time service."},
    {"host.config", "", "Give this node the setting or version that the other nodes have."},
    {"workers.enumerate", "frozen",
     "Look at the node's console: its kernel answers and its processes do not."},
    {"workers.enumerate", "",
     "Look whether the node and its slurmd run and can be reached; then the node's kernel log."},
    {"mpi.messages", "", "Test the node's memory and NIC: it altered data on the way."},
    {"mpi.launch", "", "Look at slurmd's log on the node, and whether its file systems answer."},
    {"collectives", "",
     "Test the node's memory, GPU and NIC: its part of a collective was wrong or slow."},
    {"preflight.claims", "", "Run muster certify --suspects."},
    {"certificate", "", "Look at MUNGE and at the free space below /var on the node."},
    {"slurm.state", "", "Look at sinfo -R for who took the node away, and why."},
    {"net.topology", " runs at ", "Reseat the cable; look at the transceiver and the switch port."},
    {"net.topology", "", "Compare the node's cables with topology.conf."},
};
enum { ADVICE = sizeof advice / sizeof *advice };

static bool has(const char *text, const char *word)
{
    return text && strstr(text, word);
}

const char *advice_on(enum verdict verdict, const char *test, const char *part, const char *message)
{
    if (verdict != VERDICT_FAIL && verdict != VERDICT_WARN && verdict != VERDICT_UNKNOWN)
        return "";
    for (size_t i = 0; test && i < ADVICE; i++)
        if (strncmp(test, advice[i].test, strlen(advice[i].test)) == 0 &&
            (!*advice[i].word || has(part, advice[i].word) || has(message, advice[i].word)))
            return advice[i].text;
    return verdict == VERDICT_UNKNOWN ? "Read why it could not be told, and measure again." : "";
}
