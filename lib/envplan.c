/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Where a variable belongs. Whatever a daemon of mpirun gets, all ranks of its node inherit; an
 * agent such as torchrun numbers its ranks itself, but has to be told where to meet. */
enum scope {
    SCOPE_NODE = 1 << ENVPLAN_RANK | 1 << ENVPLAN_MPI_DAEMON | 1 << ENVPLAN_AGENT,
    SCOPE_STEP = 1 << ENVPLAN_RANK | 1 << ENVPLAN_AGENT,
    SCOPE_RANK = 1 << ENVPLAN_RANK,
};

enum {
    RDMA = 1 << FABRIC_ROCE_V1 | 1 << FABRIC_ROCE_V2 | 1 << FABRIC_INFINIBAND,
    /* libfabric's networks: UCX has no transport for EFA's ports */
    NOT_EFA = ~(1 << FABRIC_EFA),
    NOT_GAUDI = ~(1 << FABRIC_GAUDI),
    ANY = ~0,
};

struct view {
    const struct inventory *inventory;
    const struct fabric *fabric;
    const struct conf *conf;
    const struct envplan_task *task;
    envplan_getenv_fn *getenv_fn;
    void *context;
};

/* Writes value and fact. Returns 0, or -1 when there is nothing to set and fact says why. */
typedef int rule_fn(const struct view *view, struct envplan_variable *variable);

struct rule {
    const char *variable;
    const char *rule;
    enum scope scope;
    int classes;           /* fabric classes it is for */
    const char *yields_to; /* left alone as well when the user set this one; NULL: none */
    rule_fn *choose;
};

/* ---------------------------------------------------------------- text */

static int fact_set(struct envplan_variable *variable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fact_set(struct envplan_variable *variable, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(variable->fact, sizeof variable->fact, format, args);
    va_end(args);
    return -1;
}

/* Appends word, after separator unless it is the first. Returns 0, or -1 when it does not fit. */
static int join(char *text, size_t size, const char *separator, const char *word)
{
    size_t length = strlen(text);
    int n = snprintf(text + length, size - length, "%s%s", length > 0 ? separator : "", word);

    if (n < 0 || (size_t)n >= size - length) {
        text[length] = '\0';
        return -1;
    }
    return 0;
}

static int fact_add(struct envplan_variable *variable, const char *text)
{
    join(variable->fact, sizeof variable->fact, "; ", text);
    return -1;
}

/* ---------------------------------------------------------------- rails and their interfaces */

static bool is_gaudi_nic(const struct nic *nic)
{
    return strncmp(nic->driver, "habanalabs", strlen("habanalabs")) == 0;
}

/* Can carry a socket's data now. */
static bool nic_has_sockets(const struct nic *nic)
{
    return nic->is_up && nic->has_carrier && nic->address_count > 0;
}

static bool has_gaudi(const struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (inventory->gpus[i].vendor == GPU_GAUDI)
            return true;
    return false;
}

/* "eth1 eth2 up, eth3 down, Ethernet; management is eth0" */
static void rails_fact(const struct view *view, struct envplan_variable *variable)
{
    const struct fabric *fabric = view->fabric;
    char up[128] = "", down[96] = "";

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        char *text = rail_is_up(rail) ? up : down;
        size_t size = rail_is_up(rail) ? sizeof up : sizeof down;

        if (join(text, size - 4, " ", rail->name) < 0 &&
            strcmp(text + strlen(text) - 3, "...") != 0)
            join(text, size, "", "...");
    }
    fact_set(variable, "%s%s%s%s%s%s%s%s", up, *up ? " up" : "", *up && *down ? ", " : "", down,
             *down ? " down" : "", *up || *down ? ", " : "", fabric_class_name(fabric->class),
             fabric->management != NULL ? "; management is " : "");
    if (fabric->management != NULL)
        join(variable->fact, sizeof variable->fact, "", fabric->management->name);
}

/* The interfaces that sockets of the job's data should use, in the rails' order; at most max of
 * them. Gaudi's own ports carry no sockets: there it is the host's interfaces besides management.
 * Returns how many. */
static size_t socket_interfaces(const struct view *view, const struct nic **nics, size_t max)
{
    const struct fabric *fabric = view->fabric;
    size_t count = 0;

    if (fabric->class == FABRIC_GAUDI) {
        for (size_t i = 0; i < view->inventory->nic_count && count < max; i++) {
            const struct nic *nic = &view->inventory->nics[i];

            if (nic != fabric->management && nic->is_physical && !is_gaudi_nic(nic) &&
                nic_has_sockets(nic))
                nics[count++] = nic;
        }
        return count;
    }
    for (size_t i = 0; i < fabric->rail_count && count < max; i++) {
        const struct nic *nic = fabric->rails[i].nic;
        bool is_double = nic == NULL;

        for (size_t j = 0; j < count; j++)
            is_double = is_double || nics[j] == nic;
        if (!is_double && nic_has_sockets(nic))
            nics[count++] = nic;
    }
    return count;
}

static int sockets_join(const struct view *view, struct envplan_variable *variable,
                        const char *before, size_t max)
{
    const struct nic *nics[INVENTORY_NICS];
    size_t count = socket_interfaces(view, nics, max);
    char list[sizeof variable->value] = "";

    rails_fact(view, variable);
    if (count == 0)
        return fact_add(variable, "no rail that is up has an interface with an IP address");
    for (size_t i = 0; i < count; i++)
        if (join(list, sizeof list - strlen(before), ",", nics[i]->name) < 0)
            return fact_set(variable, "the names of %zu interfaces do not fit", count);
    snprintf(variable->value, sizeof variable->value, "%s%s", before, list);
    return 0;
}

static int ports_join(const struct view *view, struct envplan_variable *variable,
                      const char *before, size_t max)
{
    const struct fabric *fabric = view->fabric;
    size_t count = 0;

    rails_fact(view, variable);
    snprintf(variable->value, sizeof variable->value, "%s", before);
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        char name[INVENTORY_NAME + 16];

        if (rail->port == NULL || !rail_is_up(rail))
            continue;
        snprintf(name, sizeof name, "%s%s:%d", count > 0 ? "," : "", rail->port->device,
                 rail->port->port);
        if (++count > max || join(variable->value, sizeof variable->value, "", name) < 0)
            return fact_set(variable, "more than %zu RDMA ports are up", max);
    }
    if (count == 0)
        return fact_add(variable, "no RDMA port is up");
    return 0;
}

/* ---------------------------------------------------------------- the rules */

static int choose_ucx_devices(const struct view *view, struct envplan_variable *variable)
{
    if (1 << view->fabric->class & RDMA)
        return ports_join(view, variable, "", INVENTORY_RDMA);
    return sockets_join(view, variable, "", INVENTORY_NICS);
}

static int choose_gid_index(const struct view *view, struct envplan_variable *variable)
{
    const struct fabric *fabric = view->fabric;
    const struct rail *first = NULL;

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];

        if (rail->port == NULL || !rail_is_up(rail))
            continue;
        if (rail->gid_index < 0)
            return fact_set(variable, "%s has no RoCE GID", rail->name);
        if (first != NULL && rail->gid_index != first->gid_index)
            return fact_set(variable, "GID index is %d on %s and %d on %s", first->gid_index,
                            first->name, rail->gid_index, rail->name);
        first = first != NULL ? first : rail;
    }
    if (first == NULL)
        return fact_set(variable, "no RDMA port is up");
    snprintf(variable->value, sizeof variable->value, "%d", first->gid_index);
    fact_set(variable, "GID table: index %d is the best %s GID of every rail that is up",
             first->gid_index, fabric_class_name(fabric->class));
    return 0;
}

static int choose_sockets(const struct view *view, struct envplan_variable *variable)
{
    return sockets_join(view, variable, "", INVENTORY_NICS);
}

/* "=": names in full, or eth1 would take eth10 as well */
static int choose_sockets_exactly(const struct view *view, struct envplan_variable *variable)
{
    return sockets_join(view, variable, "=", INVENTORY_NICS);
}

static int choose_one_socket(const struct view *view, struct envplan_variable *variable)
{
    return sockets_join(view, variable, "", 1);
}

static int choose_nccl_ports(const struct view *view, struct envplan_variable *variable)
{
    return ports_join(view, variable, "=", 32); /* NCCL's own limit */
}

static int choose_hccl_socket(const struct view *view, struct envplan_variable *variable)
{
    if (!has_gaudi(view->inventory))
        return fact_set(variable, "no Gaudi in this node");
    return sockets_join(view, variable, "", 1);
}

static int choose_master_addr(const struct view *view, struct envplan_variable *variable)
{
    fact_set(variable, "%s", view->task->first_host_fact);
    if (*view->task->first_host == '\0')
        return -1;
    snprintf(variable->value, sizeof variable->value, "%s", view->task->first_host);
    return 0;
}

/* Neighbours in time, jobs and the steps of one job, must not meet: a prime keeps 61 steps of each
 * job apart from the next job's. */
static int choose_master_port(const struct view *view, struct envplan_variable *variable)
{
    const struct envplan_task *task = view->task;
    int first = view->conf->master_port_first, last = view->conf->master_port_last;
    unsigned long long place;

    if (task->job_id < 0 || task->step_id < 0)
        return fact_set(variable, "Slurm does not tell job and step");
    if (first < 1 || last < first || last > 65535)
        return fact_set(variable, "MasterPorts %d-%d is no range of ports", first, last);
    place = (unsigned long long)task->job_id * 61 + (unsigned long long)task->step_id;
    snprintf(variable->value, sizeof variable->value, "%d",
             first + (int)(place % (unsigned)(last - first + 1)));
    fact_set(variable, "job %ld step %ld in MasterPorts %d-%d", task->job_id, task->step_id, first,
             last);
    return 0;
}

static int set_number(struct envplan_variable *variable, long number, const char *source)
{
    if (number < 0)
        return fact_set(variable, "%s is not set", source);
    snprintf(variable->value, sizeof variable->value, "%ld", number);
    fact_set(variable, "%s is %ld", source, number);
    return 0;
}

static int choose_world_size(const struct view *view, struct envplan_variable *variable)
{
    return set_number(variable, view->task->world_size, "SLURM_NTASKS");
}

static int choose_rank(const struct view *view, struct envplan_variable *variable)
{
    return set_number(variable, view->task->rank, "SLURM_PROCID");
}

static int choose_local_rank(const struct view *view, struct envplan_variable *variable)
{
    return set_number(variable, view->task->local_rank, "SLURM_LOCALID");
}

static int choose_local_size(const struct view *view, struct envplan_variable *variable)
{
    return set_number(variable, view->task->local_size, "the number of the step's tasks here");
}

static int choose_node_rank(const struct view *view, struct envplan_variable *variable)
{
    return set_number(variable, view->task->node_rank, "SLURM_NODEID");
}

/* Every variable that muster knows, the one place. */
static const struct rule rules[] = {
    {"UCX_NET_DEVICES", "fabric rails", SCOPE_NODE, NOT_EFA, NULL, choose_ucx_devices},
    {"UCX_IB_GID_INDEX", "one RoCE GID index", SCOPE_NODE,
     1 << FABRIC_ROCE_V1 | 1 << FABRIC_ROCE_V2, "UCX_NET_DEVICES", choose_gid_index},
    {"NCCL_SOCKET_IFNAME", "fabric interfaces", SCOPE_NODE, NOT_GAUDI, NULL,
     choose_sockets_exactly},
    {"NCCL_IB_HCA", "RDMA ports", SCOPE_NODE, RDMA, NULL, choose_nccl_ports},
    {"HCCL_SOCKET_IFNAME", "Gaudi's host interface", SCOPE_NODE, ANY, NULL, choose_hccl_socket},
    {"OMPI_MCA_btl_tcp_if_include", "fabric interfaces", SCOPE_NODE, ANY,
     "OMPI_MCA_btl_tcp_if_exclude", choose_sockets},
    {"GLOO_SOCKET_IFNAME", "one fabric interface", SCOPE_NODE, ANY, NULL, choose_one_socket},
    {"TP_SOCKET_IFNAME", "one fabric interface", SCOPE_NODE, ANY, NULL, choose_one_socket},
    {"MASTER_ADDR", "host of rank 0", SCOPE_STEP, ANY, NULL, choose_master_addr},
    {"MASTER_PORT", "job and step", SCOPE_STEP, ANY, NULL, choose_master_port},
    {"GROUP_RANK", "node of the step", SCOPE_STEP, ANY, NULL, choose_node_rank},
    {"WORLD_SIZE", "tasks of the step", SCOPE_RANK, ANY, NULL, choose_world_size},
    {"RANK", "task", SCOPE_RANK, ANY, NULL, choose_rank},
    {"LOCAL_RANK", "task on its node", SCOPE_RANK, ANY, NULL, choose_local_rank},
    {"LOCAL_WORLD_SIZE", "tasks of this node", SCOPE_RANK, ANY, NULL, choose_local_size},
};

enum { RULES = sizeof rules / sizeof *rules };
_Static_assert((int)RULES <= (int)ENVPLAN_MAX, "struct envplan holds the whole table");

/* ---------------------------------------------------------------- the mark */

static unsigned hash(const char *text) /* FNV-1a, 32 bit */
{
    unsigned value = 2166136261u;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* True when an outer step's muster set name to value. */
static bool is_ours(const char *mark, const char *name, const char *value)
{
    char entry[96];
    size_t length = (size_t)snprintf(entry, sizeof entry, "%s:%08x", name, hash(value));

    for (const char *at = mark; at != NULL && *at != '\0';) {
        if (strncmp(at, entry, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

/* The value that the user gave name; NULL when unset or an outer step's muster's. */
static const char *users_value(const struct view *view, const char *name)
{
    const char *value = view->getenv_fn(name, view->context);

    if (value == NULL || is_ours(view->getenv_fn(ENVPLAN_MARK, view->context), name, value))
        return NULL;
    return value;
}

static void mark_add(struct envplan *plan, const struct envplan_variable *variable)
{
    char entry[96];

    snprintf(entry, sizeof entry, "%s:%08x", variable->name, hash(variable->value));
    join(plan->mark, sizeof plan->mark, ",", entry);
}

/* ---------------------------------------------------------------- the plan */

static const char *launcher_name(enum envplan_launcher launcher)
{
    return launcher == ENVPLAN_MPI_DAEMON ? "an MPI launcher's daemon" : "a launcher of ranks";
}

/* Answers whether rule has a value for this task. */
static int rule_apply(const struct rule *rule, const struct view *view,
                      struct envplan_variable *variable)
{
    const char *users = users_value(view, rule->variable);

    if (users != NULL)
        return fact_set(variable, "set by the user to \"%s\"", users);
    if (!(rule->scope & 1 << view->task->launcher))
        return fact_set(variable, "the task is %s, which sees to its own ranks",
                        launcher_name(view->task->launcher));
    if (rule->yields_to != NULL && users_value(view, rule->yields_to) != NULL)
        return fact_set(variable, "the user set %s", rule->yields_to);
    if (!(rule->classes & 1 << view->fabric->class))
        return fact_set(variable, "not for a fabric of class %s",
                        fabric_class_name(view->fabric->class));
    return rule->choose(view, variable);
}

void envplan_make(const struct inventory *inventory, const struct fabric *fabric,
                  const struct conf *conf, const struct envplan_task *task,
                  envplan_getenv_fn *getenv_fn, void *context, struct envplan *plan)
{
    const struct view view = {inventory, fabric, conf, task, getenv_fn, context};

    memset(plan, 0, sizeof *plan);
    for (size_t i = 0; i < RULES; i++) {
        struct envplan_variable *variable = &plan->variables[plan->count++];

        snprintf(variable->name, sizeof variable->name, "%s", rules[i].variable);
        snprintf(variable->rule, sizeof variable->rule, "%s", rules[i].rule);
        if (rule_apply(&rules[i], &view, variable) == 0) {
            variable->action = ENVPLAN_SET;
            mark_add(plan, variable);
            continue;
        }
        variable->value[0] = '\0';
        variable->action = ENVPLAN_KEEP;
        if (getenv_fn(variable->name, context) != NULL &&
            users_value(&view, variable->name) == NULL)
            variable->action = ENVPLAN_REMOVE;
    }
}

void envplan_make_off(envplan_getenv_fn *getenv_fn, void *context, struct envplan *plan)
{
    const struct view view = {.getenv_fn = getenv_fn, .context = context};

    memset(plan, 0, sizeof *plan);
    for (size_t i = 0; i < RULES; i++) {
        struct envplan_variable *variable = &plan->variables[plan->count];

        if (getenv_fn(rules[i].variable, context) == NULL ||
            users_value(&view, rules[i].variable) != NULL)
            continue;
        snprintf(variable->name, sizeof variable->name, "%s", rules[i].variable);
        snprintf(variable->rule, sizeof variable->rule, "off");
        fact_set(variable, "an outer step's muster set it, and this step wants none");
        variable->action = ENVPLAN_REMOVE;
        plan->count++;
    }
}

void envplan_explain(const struct envplan_variable *variable, char *line, size_t line_size)
{
    static const char *const verbs[] = {"=", " left alone", " removed"};
    bool is_set = variable->action == ENVPLAN_SET;

    snprintf(line, line_size, "%s%s%s (%s: %s)", variable->name, verbs[variable->action],
             is_set ? variable->value : "", variable->rule, variable->fact);
    for (; *line != '\0'; line++)
        if (iscntrl((unsigned char)*line))
            *line = '?';
}
