/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/record_source.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/report/recordfile.h"

struct taking {
    struct certify *certify;
    struct record_source *source;
    enum stage stage;
};

void record_source_bound(struct record_source *source, size_t nodes)
{
    source->records_most = nodes * (size_t)CERTIFY_RECORDS_OF_NODE +
                           nodes * nodes / 2 * (size_t)CERTIFY_RECORDS_OF_PAIR;
    source->bytes_most = nodes * (size_t)CERTIFY_TEXT_OF_NODE;
}

/* Makes the node unknown if a record that is left out says that it failed or is unknown, and comes
 * from the node itself or from rank 0: such a node must not pass. */
static void doubt_note(const struct taking *taking, const struct record *record,
                       const struct error *doubt)
{
    const struct record_source *source = taking->source;
    bool is_trusted = record->node && (!source->is_own || strcmp(record->node, source->name) == 0);
    struct node_run *node_run = is_trusted ? certify_node_run(taking->certify, record->node) : NULL;
    struct error text = *doubt;

    if (record->verdict < VERDICT_UNKNOWN || !node_run || !outcome_is_good(&node_run->outcome))
        return;
    error_prefix(&text, "a record left out");
    certify_verdict(taking->certify, node_run, taking->stage, VERDICT_UNKNOWN,
                    stage_name(taking->stage), "", text.text);
}

static bool is_wanted(const struct record *record, void *context)
{
    const struct taking *taking = context;
    struct certify *certify = taking->certify;
    const struct record_source *source = taking->source;
    struct error why;

    if (source->is_own && !source->is_own(record, source->name)) {
        error_set(&why, "about %.63s", record->node ? record->node : "no node");
    } else if (source->records >= source->records_most || source->bytes >= source->bytes_most) {
        error_set(&why, "more than %zu records, or %zu bytes in them", source->records_most,
                  source->bytes_most);
        doubt_note(taking, record, &why);
    } else if (recordfile_doubt(record, &why) != 0) {
        error_prefix(&why, "%.60s%s%.63s", record->test, record->node ? " of " : "",
                     text_of(record->node));
        doubt_note(taking, record, &why);
    } else {
        return true;
    }
    if (certify->refused_records++ == 0) {
        snprintf(certify->refused_source, sizeof certify->refused_source, "%s", source->name);
        snprintf(certify->refused_reason, sizeof certify->refused_reason, "%s", why.text);
    }
    return false;
}

struct record_source *record_sources_make(const struct hostlist *nodes,
                                          bool (*is_own)(const struct record *record,
                                                         const char *node))
{
    struct record_source *sources = calloc(nodes->count + 1, sizeof *sources);

    for (size_t i = 0; sources && i < nodes->count; i++) {
        sources[i] = (struct record_source){.name = nodes->names[i], .is_own = is_own};
        record_source_bound(&sources[i], 1);
    }
    return sources;
}

int record_source_add(struct certify *certify, struct record_source *source, enum stage stage,
                      const char *line)
{
    struct records *records = &certify->records;
    struct taking taking = {certify, source, stage};
    size_t before = records->texts.bytes;
    int rv = records_parse_wanted(records, line, is_wanted, &taking);

    if (rv == 0) {
        source->records++;
        source->bytes += records->texts.bytes - before;
    }
    return rv;
}
