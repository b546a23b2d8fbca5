/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONF_TABLE_H
#define MUSTER_CONF_TABLE_H

#include "lib/conf/conf.h"

/* Internal to conf: the keys (the table is in conf.c) and the kinds of values (conf_value.c). */

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
    KIND_INTEGER,    /* int, or the key's word if it has one */
    KIND_YES_NO,     /* bool */
    KIND_PORTS,      /* int first, last */
    KIND_LONG_TIME,  /* long, seconds */
    KIND_TIME,       /* double, seconds, or the key's word if it has one */
    KIND_PERCENT,    /* double */
    KIND_DECIMAL,    /* double */
    KIND_POLICY,     /* enum conf_policy */
    KIND_PREFLIGHT,  /* enum conf_preflight */
    KIND_COMPARE,    /* unsigned, enum conf_compare */
    KIND_ISLAND,     /* from here on, keys may have any number of lines; one of islands */
    KIND_VARIABLE,   /* one of variables */
    KIND_REPORT,     /* one of reports */
    KIND_KERNEL,     /* one of kernel_rules */
    KIND_SETTINGS,   /* one of netif_lines */
};

struct conf_key {
    const char *name;
    enum conf_kind kind;
    size_t offset;
    double minimum, maximum; /* of the value; of the number of bytes of a char[] */
    const char *default_text;
    const char *help;
    const char *word; /* KIND_INTEGER, KIND_TIME: a word for one value */
    int word_value;
};

enum { CONF_LINE = 4096, CONF_ALLOWED = 400 }; /* bytes of a line, of conf_value_allowed() */

/* Sets the key's field in conf to value, or adds value if the key is repeatable. line: of the file.
 * A list must be empty before; an empty value of a repeatable key adds nothing. Returns 0, or -1
 * with err "found ..., allowed ...". */
int conf_value_set(struct conf *conf, const struct conf_key *key, const char *value, unsigned line,
                   struct error *err);

/* Return whether the key's field is a struct hostlist, and whether the key is repeatable. */
bool conf_value_is_list(const struct conf_key *key);
bool conf_value_is_repeatable(const struct conf_key *key);

/* Writes the key's field as a text that conf_value_set() accepts. Returns 0, or -1 if memory is
 * out. */
int conf_value_print(const struct conf *conf, const struct conf_key *key, FILE *stream);

/* Formats the allowed values of a key, for messages and comments. */
void conf_value_allowed(const struct conf_key *key, char *text, size_t size);

/* The repeatable keys (conf_site.c). */
int conf_island_set(struct conf *conf, const char *value, unsigned line, struct error *err);
int conf_variable_set(struct conf *conf, const char *value, unsigned line, struct error *err);
/* Print all lines of a key: "Key=VALUE" each, but the first without "Key=", which is printed
 * already. */
int conf_islands_print(const struct conf *conf, FILE *stream);
int conf_variables_print(const struct conf *conf, FILE *stream);
int conf_report_set(struct conf *conf, const char *value, struct error *err);
void conf_reports_print(const struct conf *conf, FILE *stream);
int conf_kernel_set(struct conf *conf, const char *value, unsigned line, struct error *err);
void conf_kernel_print(const struct conf *conf, FILE *stream);
void conf_site_clear(struct conf *conf);

#endif
