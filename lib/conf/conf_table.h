/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONF_TABLE_H
#define MUSTER_CONF_TABLE_H

#include "lib/conf/conf.h"

/* Inside of conf: what a key is (the table is in conf.c), and what a value of each kind is
 * (conf_value.c). */

enum conf_kind {
    KIND_INTERFACE,  /* char[], may be empty */
    KIND_INTERFACES, /* struct hostlist, may be empty */
    KIND_PATHS,      /* struct hostlist of absolute paths, may be empty */
    KIND_SERVICES,   /* struct hostlist of units of systemd, may be empty */
    KIND_SPEEDS,     /* nominal_speeds and nominal_speed_count, may be empty */
    KIND_PATH,       /* char[], absolute */
    KIND_FILE,       /* char[], absolute, may be empty */
    KIND_PATH_LIST,  /* char[], absolute, with colons between; may be empty */
    KIND_WORDS,      /* char[], words of a command with blanks between; may be empty */
    KIND_USER,       /* char[], a user's name, never root */
    KIND_INTEGER,    /* int, or the key's word where it has one */
    KIND_YES_NO,     /* bool */
    KIND_PORTS,      /* int first, last */
    KIND_LONG_TIME,  /* long, seconds */
    KIND_TIME,       /* double, seconds, or the key's word where it has one */
    KIND_PERCENT,    /* double */
    KIND_DECIMAL,    /* double */
    KIND_POLICY,     /* enum conf_policy */
    KIND_ISLAND,     /* one of islands; repeatable */
    KIND_VARIABLE,   /* one of variables; repeatable */
    KIND_REPORT,     /* one of reports; repeatable, may be empty */
    KIND_KERNEL,     /* one of kernel_rules; repeatable, may be empty */
    KIND_PREFLIGHT,  /* enum conf_preflight */
    KIND_COMPARE,    /* unsigned, enum conf_compare */
    KIND_SETTINGS,   /* netif_lines and netif_line_count; a line more each time, may be empty */
};

struct conf_key {
    const char *name;
    enum conf_kind kind;
    size_t offset;
    double minimum, maximum; /* of a char[] its bytes */
    const char *default_text;
    const char *help;
    const char *word; /* KIND_INTEGER, KIND_TIME: a word for one value */
    int word_value;
};

enum { CONF_LINE = 4096 /* bytes of a line */, CONF_ALLOWED = 400 /* bytes of conf_allowed() */ };

/* Sets the key's field in conf from a text in that line of the file, or adds to it where the key is
 * repeatable. A list must be empty before. -1 with err "found ..., allowed ...". */
int conf_value_set(struct conf *conf, const struct conf_key *key, const char *value, unsigned line,
                   struct error *err);

/* Whether the key's field is a struct hostlist. */
bool conf_value_is_list(const struct conf_key *key);

/* Writes the key's field as a text that conf_value_set() takes. -1 when memory is out. */
int conf_value_print(const struct conf *conf, const struct conf_key *key, FILE *stream);

/* What a key takes, for messages and readers. */
void conf_value_allowed(const struct conf_key *key, char *text, size_t size);

/* The repeatable keys (conf_site.c). An empty value adds nothing. */
int conf_island_set(struct conf *conf, const char *value, unsigned line, struct error *err);
int conf_variable_set(struct conf *conf, const char *value, unsigned line, struct error *err);
/* All of them, each on a line "Key=...", but for the first, whose key is printed already. */
int conf_islands_print(const struct conf *conf, FILE *stream);
int conf_variables_print(const struct conf *conf, FILE *stream);
int conf_report_set(struct conf *conf, const char *value, struct error *err);
void conf_reports_print(const struct conf *conf, FILE *stream);
int conf_kernel_set(struct conf *conf, const char *value, unsigned line, struct error *err);
void conf_kernel_print(const struct conf *conf, FILE *stream);
void conf_site_clear(struct conf *conf);

#endif
