# SPDX-License-Identifier: Apache-2.0
#
# doc/records.schema.json from the tables of doc/records.md: JSON Schema, draft 2020-12
# (json-schema.org/draft/2020-12).

function text(value) {
    gsub(/\\/, "\\\\", value)
    gsub(/"/, "\\\"", value)
    return "\"" value "\""
}

# The words between ` of a sentence, as a list of texts.
function words(sentence,    list, word) {
    list = ""
    while (match(sentence, /`[a-z]+`/)) {
        word = substr(sentence, RSTART + 1, RLENGTH - 2)
        list = list (list == "" ? "" : ",") text(word)
        sentence = substr(sentence, RSTART + RLENGTH)
    }
    return list
}

function field(name, kind, present, meaning) {
    properties = properties (properties == "" ? "" : ",\n") "  " text(name) ": {\"type\": " text(kind) \
        (kind == "string" ? ", \"minLength\": 1" : "") \
        (name == "verdict" || name == "limit_source" ? ", \"enum\": [" words(meaning) "]" : "") \
        ", \"description\": " text(meaning) "}"
    if (present == "always")
        required = required (required == "" ? "" : ", ") text(name)
    if (sub(/^with /, "", present)) {
        if (!(present in with))
            order[++with_count] = present
        with[present] = with[present] (with[present] == "" ? "" : ", ") text(name)
    }
}

function constant(name, value) {
    if (value == "-")
        absent = absent (absent == "" ? "" : ", ") "{\"required\": [" text(name) "]}"
    else if (value != "any")
        rule = rule (rule == "" ? "" : ", ") text(name) ": {\"const\": " text(value) "}"
}

# A row of the second table. A verdict without a figure has no unit.
function test(suite, name, metric, unit) {
    rule = absent = ""
    constant("suite", suite)
    constant("test", name)
    constant("metric", metric)
    constant("unit", unit)
    tests = tests (tests == "" ? "" : ",\n") "  {\"properties\": {" rule "}" \
        (metric == "-" || metric == "any" ? "" : ", \"required\": [\"metric\"]") \
        (absent == "" ? "" : ", \"not\": {\"anyOf\": [" absent "]}") "}"
}

BEGIN { FS = " *\\| *" }
/^This is version [0-9]+ of the schema/ { split($0, sentence, " "); version = sentence[4] }
/^## / { section = $0; is_heading = 1 }
/^\|/ {
    if (is_heading || $2 ~ /^---/)
        is_heading = 0
    else if (section == "## Fields")
        field($2, $3, $4, $5)
    else if (section == "## Tests")
        test($2, $3, $4, $5)
}
END {
    print "{"
    print " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\","
    print " \"title\": \"A record of muster: one line of what it measures and concludes\","
    print " \"$id\": \"urn:muster:record:" version "\","
    print " \"type\": \"object\","
    print " \"properties\": {\n" properties "\n },"
    print " \"required\": [" required "],"
    for (i = 1; i <= with_count; i++)
        needs = needs (needs == "" ? "" : ", ") text(order[i]) ": [" with[order[i]] "]"
    print " \"dependentRequired\": {" needs "},"
    print " \"anyOf\": [\n" tests "\n ]"
    print "}"
}
