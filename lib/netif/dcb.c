/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <string.h>

enum { REQUEST_MAX = 512 };

struct state {
    struct ieee_pfc pfc;
    bool has_pfc, has_apps;
    unsigned char priorities[64]; /* of each DSCP */
};

static void parse_apps(const struct rtattr *table, struct state *state)
{
    const char *at = netlink_value(table), *end = at + netlink_size(table);
    const struct rtattr *entry;
    struct dcb_app app;

    state->has_apps = true;
    while ((entry = netlink_next_attribute(&at, end)) != NULL) {
        if ((entry->rta_type & (unsigned)NLA_TYPE_MASK) != DCB_ATTR_IEEE_APP ||
            netlink_size(entry) < sizeof app)
            continue;
        memcpy(&app, netlink_value(entry), sizeof app);
        if (app.selector == IEEE_8021QAZ_APP_SEL_DSCP && app.protocol < 64 && app.priority < 8)
            state->priorities[app.protocol] |= (unsigned char)(1U << app.priority);
    }
}

static int parse(const void *message, size_t length, struct state *state)
{
    const struct rtattr *ieee, *pfc, *apps;
    const char *at, *end;

    *state = (struct state){0};
    if (!netlink_is_message(message, length, RTM_GETDCB, sizeof(struct dcbmsg)))
        return -1;
    ieee = netlink_attribute(message, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
    if (!ieee)
        return -1;
    at = netlink_value(ieee);
    end = at + netlink_size(ieee);
    pfc = netlink_find(at, end, DCB_ATTR_IEEE_PFC);
    state->has_pfc = pfc && netlink_size(pfc) >= sizeof state->pfc;
    if (state->has_pfc)
        memcpy(&state->pfc, netlink_value(pfc), sizeof state->pfc);
    apps = netlink_find(at, end, DCB_ATTR_IEEE_APP_TABLE);
    if (apps)
        parse_apps(apps, state);
    return 0;
}

static int value_of(const struct state *state, enum netif_setting setting, long *priorities)
{
    if (setting == NETIF_PFC ? !state->has_pfc : !state->has_apps)
        return 1;
    *priorities =
        setting == NETIF_PFC ? state->pfc.pfc_en : state->priorities[setting - NETIF_DSCP];
    return 0;
}

int dcb_parse(const void *message, size_t length, enum netif_setting setting, long *priorities)
{
    struct state state;

    return parse(message, length, &state) != 0 ? -1 : value_of(&state, setting, priorities);
}

static int pauses_of(const struct state *state, uint64_t *sent, uint64_t *received)
{
    if (!state->has_pfc)
        return 1;
    *sent = *received = 0;
    for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
        *sent += state->pfc.requests[i];
        *received += state->pfc.indications[i];
    }
    return 0;
}

int dcb_parse_pauses(const void *message, size_t length, uint64_t *sent, uint64_t *received)
{
    struct state state;

    return parse(message, length, &state) != 0 ? -1 : pauses_of(&state, sent, received);
}

/* ---------------------------------------------------------------- requests */

struct answer {
    struct state state;
    int status; /* result of parse(), or the errno of a change; -1: no answer yet */
};

static int parse_state(const struct nlmsghdr *message, size_t length, void *context)
{
    struct answer *answer = context;

    answer->status = parse(message, length, &answer->state);
    return 1;
}

/* Takes the answer to a change: its errno, negative and in one byte (dcbnl_ieee_set() in Linux's
 * net/dcb/dcbnl.c). */
static int parse_status(const struct nlmsghdr *message, size_t length, void *context)
{
    struct answer *answer = context;
    const struct rtattr *status;

    if (!netlink_is_message(message, length, RTM_SETDCB, sizeof(struct dcbmsg)))
        return 0;
    status = netlink_attribute(message, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
    if (status && netlink_size(status) == 1)
        answer->status = -*(const signed char *)netlink_value(status);
    return 1;
}

static struct nlmsghdr *begin_message(struct netlink *netlink, char *message, unsigned char command,
                                      const char *name)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct dcbmsg *dcb = (struct dcbmsg *)(message + NLMSG_HDRLEN);

    memset(message, 0, REQUEST_MAX);
    header->nlmsg_len = NLMSG_LENGTH(sizeof *dcb);
    header->nlmsg_type = command == DCB_CMD_IEEE_GET ? RTM_GETDCB : RTM_SETDCB;
    header->nlmsg_flags = NLM_F_REQUEST;
    header->nlmsg_seq = ++netlink->sequence;
    dcb->cmd = command;
    netlink_put_attribute(message, DCB_ATTR_IFNAME, name, strlen(name) + 1);
    return header;
}

static int get_state(struct netlink *netlink, const char *name, struct state *state,
                     struct error *err)
{
    _Alignas(struct nlmsghdr) char message[REQUEST_MAX];
    struct answer answer = {.status = -1};
    struct nlmsghdr *header = begin_message(netlink, message, DCB_CMD_IEEE_GET, name);

    if (netlink_query(netlink, message, header->nlmsg_len, parse_state, &answer, err) != 0)
        return errno == EOPNOTSUPP ? error_set(err, "its driver has no DCB: %m") : -1;
    if (answer.status != 0) {
        errno = EPROTO;
        return error_set(err, "the kernel's answer is not about DCB");
    }
    *state = answer.state;
    return 0;
}

/* Sends a change of pfc or, if it is NULL, of app, an entry of the application table. */
static int send_change(struct netlink *netlink, const char *name, unsigned char command,
                       const struct ieee_pfc *pfc, const struct dcb_app *app, struct error *err)
{
    _Alignas(struct nlmsghdr) char message[REQUEST_MAX];
    struct answer answer = {.status = -1};
    struct nlmsghdr *header = begin_message(netlink, message, command, name);
    struct rtattr *ieee = (struct rtattr *)(message + NLMSG_ALIGN(header->nlmsg_len)), *table;

    netlink_put_attribute(message, DCB_ATTR_IEEE | NLA_F_NESTED, "", 0);
    if (pfc) {
        netlink_put_attribute(message, DCB_ATTR_IEEE_PFC, pfc, sizeof *pfc);
    } else {
        table = (struct rtattr *)(message + NLMSG_ALIGN(header->nlmsg_len));
        netlink_put_attribute(message, DCB_ATTR_IEEE_APP_TABLE | NLA_F_NESTED, "", 0);
        netlink_put_attribute(message, DCB_ATTR_IEEE_APP, app, sizeof *app);
        table->rta_len = (unsigned short)(message + header->nlmsg_len - (char *)table);
    }
    ieee->rta_len = (unsigned short)(message + header->nlmsg_len - (char *)ieee);
    if (netlink_query(netlink, message, header->nlmsg_len, parse_status, &answer, err) != 0)
        return -1;
    if (answer.status != 0) {
        errno = answer.status > 0 ? answer.status : EPROTO;
        return error_set(err, "%m");
    }
    return 0;
}

/* ---------------------------------------------------------------- values */

int dcb_get(struct netlink *netlink, const char *name, enum netif_setting setting, long *priorities,
            struct error *err)
{
    struct state state;

    if (get_state(netlink, name, &state, err) != 0)
        return -1;
    if (value_of(&state, setting, priorities) != 0) {
        errno = EOPNOTSUPP;
        return error_set(err, "its driver has no %s: %m",
                         setting == NETIF_PFC ? "priority flow control" : "priorities for DSCPs");
    }
    return 0;
}

int dcb_count_pauses(struct netlink *netlink, const char *name, uint64_t *sent, uint64_t *received,
                     struct error *err)
{
    struct state state;

    if (get_state(netlink, name, &state, err) != 0)
        return -1;
    if (pauses_of(&state, sent, received) != 0) {
        errno = EOPNOTSUPP;
        return error_set(err, "its driver has no priority flow control: %m");
    }
    return 0;
}

/* Adds the new entries first and then removes the others. Some drivers replace an entry by
 * themselves, and without any entry a card would not trust DSCPs for a moment. */
static int set_dscp(struct netlink *netlink, const char *name, int dscp, long priorities,
                    struct error *err)
{
    struct dcb_app app = {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = (unsigned short)dscp};
    struct state state;

    for (int is_removal = 0; is_removal < 2; is_removal++) {
        if (get_state(netlink, name, &state, err) != 0)
            return -1;
        for (app.priority = 0; app.priority < 8; app.priority++) {
            bool is_there = state.priorities[dscp] & 1U << app.priority;
            bool is_wanted = priorities & 1L << app.priority;

            if (is_there != is_wanted && is_there == is_removal &&
                send_change(netlink, name, is_removal ? DCB_CMD_IEEE_DEL : DCB_CMD_IEEE_SET, NULL,
                            &app, err) != 0)
                return -1;
        }
    }
    return 0;
}

int dcb_set(struct netlink *netlink, const char *name, enum netif_setting setting, long priorities,
            struct error *err)
{
    struct state state;

    if (setting != NETIF_PFC)
        return set_dscp(netlink, name, (int)(setting - NETIF_DSCP), priorities, err);
    if (get_state(netlink, name, &state, err) != 0)
        return -1;
    state.pfc.pfc_en = (unsigned char)priorities;
    return send_change(netlink, name, DCB_CMD_IEEE_SET, &state.pfc, NULL, err);
}
