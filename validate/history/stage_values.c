/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/stage_values.h"

#include "validate/history/database.h"

double stage_value_chance(const struct stage_value *value)
{
    return (value->found + 0.5) / (value->tested + 1);
}

double stage_value_per_hour(const struct stage_value *value)
{
    return value->seconds > 0 ? 3600 * stage_value_chance(value) / value->seconds : 0;
}

int stage_values(const char *path, double since,
                 void (*each)(const struct stage_value *value, void *context), void *context,
                 struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT part, count(*), sum(tested), sum(found), sum(s * tested) / sum(tested)"
        " FROM (SELECT part, max(CASE metric WHEN 'stage_seconds' THEN value END) AS s,"
        " max(CASE metric WHEN 'nodes_tested' THEN value END) AS tested,"
        " max(CASE metric WHEN 'nodes_failed' THEN value END) AS found"
        " FROM records JOIN runs USING (run) WHERE suite = 'certify' AND test = 'stage' AND"
        " runs.time > ?4 AND dry_run = 0 GROUP BY run, part) GROUP BY part",
        "---n", since);

    while (database_next(&rows))
        each(&(struct stage_value){.stage = database_text(rows.statement, 0),
                                   .runs = sqlite3_column_int(rows.statement, 1),
                                   .tested = sqlite3_column_double(rows.statement, 2),
                                   .found = sqlite3_column_double(rows.statement, 3),
                                   .seconds = sqlite3_column_double(rows.statement, 4)},
             context);
    return database_end(&rows, err);
}
