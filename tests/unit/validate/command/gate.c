/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/health.h"

#include <string.h>
#include <unistd.h>

#include "lib/certificate/brake.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/validate/command/made_controller.h"

/* All nodes of a large cluster lose their certificates at once. Tests which of them may refuse
 * jobs, and what their health checks ask the controller. */

enum { NODES = 1500, LIMIT = 3 };

static struct brake brakes[NODES];
static bool has_brake[NODES];
static size_t checking_node; /* the node whose health check runs */

uid_t __wrap_geteuid(void)
{
    return 0;
}

char *__wrap_fingerprint_node(const struct inventory *inventory, const struct conf *conf)
{
    return strdup("kernel: 1\n");
}

int __wrap_brake_read(const char *path, struct brake *brake, struct error *err)
{
    *brake = brakes[checking_node];
    return has_brake[checking_node] ? 0 : 1;
}

int __wrap_brake_write(const char *path, const struct brake *brake, struct error *err)
{
    brakes[checking_node] = *brake;
    has_brake[checking_node] = true;
    return 0;
}

/* Runs the health checks of all nodes in a permuted order. Returns how many nodes may refuse
 * jobs. */
static int run_health_checks(const struct conf *conf)
{
    int allowed = 0;

    controller.loads = controller.singles = 0;
    capture_begin();
    for (size_t i = 0; i < NODES; i++) {
        checking_node = i * 7 % NODES;
        health_gate(controller.nodes[checking_node].name, NULL, conf);
    }
    capture_end(1);
    for (size_t i = 0; i < NODES; i++)
        allowed += has_brake[i] && brakes[i].permission == BRAKE_PERMITTED;
    return allowed;
}

int main(void)
{
    struct conf conf = {.gate_brake = LIMIT,
                        .drain_cap_percent = 25,
                        .on_missing = POLICY_REFUSE,
                        .certificate_path = "/nonexistent/muster/certificate"};
    int allowed;

    controller_make(NODES);
    allowed = run_health_checks(&conf);
    ok(allowed > 0 && allowed <= LIMIT,
       "of 1500 nodes without a certificate at most three may refuse jobs");
    ok(controller.loads >= allowed && controller.loads < 2 * NODES / HEALTH_SAMPLE_NODES,
       "... after %d queries of all nodes", controller.loads);
    ok(controller.singles < 8 * NODES, "... and %d queries of one node", controller.singles);

    is_int(run_health_checks(&conf), 0, "at the next check none may, since more than three would");
    ok(controller.loads == 0, "... after %d queries of all nodes", controller.loads);
    ok(controller.singles <= 5 * NODES, "... and %d queries of one node", controller.singles);
    run_health_checks(&conf);
    is_int(controller.singles, NODES, "... then each node queries only itself for half an hour");

    brakes[5].permission = BRAKE_LIFTED;
    checking_node = 5;
    controller.loads = controller.singles = 0;
    health_gate(controller.nodes[5].name, NULL, &conf);
    is_int(controller.singles + controller.loads, 1,
           "a node whose brake was lifted by hand queries no other node");
    ok(brakes[5].permission == BRAKE_LIFTED, "... and its brake stays lifted");
    return tap_done();
}
