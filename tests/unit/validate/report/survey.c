/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/conf/conf.h"
#include "tests/unit/tap.h"
#include "validate/report/format.h"
#include "validate/report/html.h"
#include "validate/report/recordfile.h"

/* The records and the survey of a test. survey_begin() clears both. */
static struct records records;
static struct survey survey;

/* Returns the text with each ' replaced by ". Valid until the next call. */
static const char *json(const char *line)
{
    static char text[600];

    snprintf(text, sizeof text, "%s", line);
    for (char *quote = text; (quote = strchr(quote, '\''));)
        *quote = '"';
    return text;
}

static void add_record(struct record record)
{
    if (records_add(&records, &record) != 0)
        tap_diag("no memory for a record");
}

static void add_line(const char *line)
{
    if (records_parse(&records, json(line)) != 0)
        tap_diag("no record: %s", line);
}

static void survey_begin(const char *const *lines)
{
    survey_clear(&survey);
    records_clear(&records);
    for (; lines && *lines; lines++)
        add_line(*lines);
}

static void build_survey(const char *name)
{
    struct error err = {""};

    is_int(survey_build(&records, NULL, &survey, &err), 0, "%s: %s", name, err.text);
}

static char *written_report(const char *format)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    is_int(format_find(format)->write(stream, &survey), 0, "%s is written", format);
    fclose(stream);
    return text;
}

/* Two runs. The newer one has three nodes, of which n10 is listed after n2. */
static const char *const two_runs[] = {
    "{'run':'old', 'time':1, 'suite':'certify', 'test':'certify', 'node':'n9', 'verdict':'fail'}",
    "{'run':'r', 'time':10, 'suite':'certify', 'test':'run', 'metric':'cluster', 'message':'lab'}",
    "{'run':'r', 'time':10, 'suite':'certify', 'test':'net.topology', 'metric':'leaf', "
    "'node':'n1', 'message':'leaf1'}",
    "{'run':'r', 'time':10, 'suite':'certify', 'test':'net.topology', 'metric':'leaf', "
    "'node':'n10', 'message':'leaf2'}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth', 'node':'n1', "
    "'part':'eth1', 'peer':'n2', 'value':100, 'unit':'Mb/s', 'low':90, 'high':101}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth', 'node':'n1', "
    "'part':'eth1', 'peer':'n2', 'value':190, 'unit':'Mb/s', 'low':180, 'high':191}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth', 'node':'n2', "
    "'part':'eth1', 'peer':'n1', 'value':50, 'unit':'Mb/s'}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth', 'node':'n1', "
    "'part':'eth1', 'peer':'n10', 'value':195, 'unit':'Mb/s'}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'latency', 'node':'n1', "
    "'part':'eth1', 'peer':'n2', 'value':5.5, 'unit':'us'}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth_together', "
    "'node':'n2', 'part':'eth1', 'peer':'n1', 'value':45, 'unit':'Mb/s'}",
    "{'run':'r', 'time':11, 'suite':'links', 'test':'links', 'metric':'bandwidth_uplink', "
    "'node':'n2', 'part':'eth1', 'peer':'n1', 'value':45, 'unit':'us'}",
    "{'run':'r', 'time':12, 'suite':'certify', 'test':'links', 'metric':'bandwidth', "
    "'part':'eth1', 'unit':'Mb/s', 'limit':160, 'limit_source':'nominal'}",
    "{'run':'r', 'time':12, 'suite':'check', 'test':'host.limits', 'node':'n2', "
    "'verdict':'unknown', 'message':'first'}",
    "{'run':'r', 'time':12, 'suite':'certify', 'test':'links', 'node':'n2', 'part':'eth1', "
    "'verdict':'fail', 'message':'eth1 sends <b>50</b> & \\'no\\' more\\u0001'}",
    "{'run':'r', 'time':13, 'suite':'certificate', 'test':'certificate', 'node':'n1', "
    "'verdict':'pass'}",
    "{'run':'r', 'time':13, 'suite':'certify', 'test':'certificate', 'metric':'expires', "
    "'node':'n1', 'value':1795794800, 'unit':'s'}",
    "{'run':'r', 'time':14, 'suite':'certify', 'test':'certify', 'node':'n1', 'verdict':'pass'}",
    "{'run':'r', 'time':14, 'suite':'certify', 'test':'certify', 'node':'n2', 'part':'eth1', "
    "'verdict':'fail', 'code':'rail_fault', 'message':'eth1 50 of 200 Mb/s'}",
    "{'run':'r', 'time':15, 'suite':'certify', 'test':'stage', 'metric':'stage_seconds', "
    "'part':'links', 'value':2.25, 'unit':'s'}",
    "{'run':'r', 'time':15, 'suite':'certify', 'test':'stage', 'metric':'nodes_tested', "
    "'part':'check', 'value':3, 'unit':'count'}",
    "{'run':'r', 'time':15, 'suite':'certify', 'test':'stage', 'metric':'stage_seconds', "
    "'part':'links', 'value':9, 'unit':'s'}",
    "{'run':'r', 'time':15, 'suite':'certify', 'test':'run', 'metric':'seconds', 'value':4.5, "
    "'unit':'s'}",
    NULL,
};

static void test_order(void)
{
    const struct survey_cell *cells;

    is_str(survey.run, "r", "the newest run is chosen");
    is_int(survey.other_runs, 1, "records of other runs are counted");
    is_str(survey.cluster, "lab", "the cluster is known");
    is_near(survey.seconds, 4.5, 0, "the duration is known");
    is_int(survey.node_count, 3, "the nodes are those that records name");
    is_str(survey.nodes[2].name, "n10", "n10 is listed after n2");
    is_int(survey.nodes[1].verdict, VERDICT_FAIL, "a node's verdict is certify's conclusion");
    is_str(survey.nodes[1].message, "eth1 50 of 200 Mb/s", "... with its message");
    is_int(survey.nodes[1].code, FAULT_RAIL_FAULT, "... and its code");
    ok(survey.nodes[0].is_certified && !survey.nodes[1].is_certified,
       "a certificate is noted for its node");
    is_near(survey.nodes[0].expires, 1795794800, 0, "... with its expiry");
    is_int(survey.nodes[2].verdict, VERDICT_NONE, "a node without a conclusion has no verdict");
    is_int(survey.leaf_count, 2, "leaves are counted");
    is_int(survey.nodes[0].leaf, 0, "a node has its leaf");
    is_int(survey.nodes[1].leaf, -1, "a node with an unknown leaf has none");
    is_int(survey.rail_count, 1, "rails are counted");
    cells = survey.rails[0].cells[SURVEY_BANDWIDTH];
    is_int(survey.rails[0].measured[SURVEY_BANDWIDTH], 3, "each pair is counted once");
    ok(cells[0].from == 0 && cells[0].to == 1 && cells[1].to == 2 && cells[2].from == 1,
       "... ordered by sender and receiver");
    is_near(cells[0].value, 190, 0, "of two values of a pair the better one is used");
    is_near(cells[0].low, 180, 0, "... with its own interval");
    is_int(cells[0].verdict, VERDICT_PASS, "a value above the rail's limit passes");
    is_int(cells[2].verdict, VERDICT_FAIL, "a value below it fails");
    is_near(cells[2].limit, 160, 0, "... with the limit");
    is_str(survey.limit_sources[cells[2].source], "nominal", "... and its source");
    ok(isnan(survey_figure(&survey, 2, 0, SURVEY_BANDWIDTH, true)),
       "a value that was not measured is missing");
    is_near(survey.rails[0].median[SURVEY_BANDWIDTH], 190, 0, "the median of the pairs is known");
    is_near(survey.rails[0].reference[SURVEY_BANDWIDTH], 195, 0,
            "the reference is that of a good node");
    cells = survey.rails[0].cells[SURVEY_TOGETHER];
    is_near(cells[0].value, 45, 0, "all rails together have their own matrix");
    ok(isnan(cells[0].limit), "... to which the limit of one rail does not apply");
    ok(!survey.rails[0].cells[SURVEY_UPLINK], "a bandwidth in us is ignored");
    is_near(survey_figure(&survey, 0, 0, SURVEY_BANDWIDTH, true), 195, 0,
            "a node's best value as sender is found");
    is_near(survey_figure(&survey, 0, 0, SURVEY_BANDWIDTH, false), 50, 0, "... as a receiver");
}

static void test_junit(void)
{
    char *text = written_report("junit");

    has_str(text,
            "<testsuite name=\"certify\" tests=\"3\" failures=\"2\" errors=\"0\" "
            "skipped=\"0\" time=\"2.000\" timestamp=\"1970-01-01T00:00:12\">",
            "a suite counts its cases and has a time");
    has_str(text, "<testsuite name=\"check\" tests=\"1\" failures=\"0\" errors=\"1\"",
            "unknown is an error");
    has_str(text, "<property name=\"run\" value=\"r\"/>", "the run is a property");
    has_str(text, "<testcase classname=\"n1\" name=\"certify\" time=\"0.000\"/>", "a pass");
    has_str(text,
            "<failure message=\"eth1 sends &lt;b&gt;50&lt;/b&gt; &amp; &quot;no&quot; "
            "more?\" type=\"rail_fault\">",
            "a message is escaped, a control character replaced");
    ok(!strstr(text, "n9"), "records of another run are not included");
    free(text);
}

static bool is_in_run(const char *node, void *context)
{
    return survey_node(&survey, node) >= 0;
}

static void test_prometheus(void)
{
    char *text;

    survey_add_past(&survey, &(struct survey_past){.run = "old",
                                                   .node = "n\"9\\\n",
                                                   .time = 1,
                                                   .rail_mbps = NAN,
                                                   .expires = 2,
                                                   .verdict = VERDICT_PASS});
    text = written_report("prometheus");
    has_str(text,
            "\n# TYPE muster_node_certified gauge\nmuster_node_certified{node=\"n1\"} 1\n"
            "muster_node_certified{node=\"n2\"} 0\n",
            "certified nodes are listed; a node without a verdict is not");
    has_str(text, "muster_node_certified{node=\"n\\\"9\\\\\\n\"} 1\n",
            "a node of the history is listed, too, its label escaped");
    has_str(text, "muster_certificate_expires_seconds{node=\"n1\"} 1795794800\n",
            "the expiry is listed");
    has_str(text,
            "muster_link_bandwidth_bytes_per_second{node=\"n1\",rail=\"eth1\",direction="
            "\"receive\"} 6250000\n",
            "a value is in bytes per second");
    has_str(text,
            "muster_node_fault{node=\"n2\",code=\"rail_fault\",remediation=\"replace_cable\"} 1\n",
            "a node's fault has its code and remediation");
    has_str(text, "muster_verdicts{test=\"links\",verdict=\"fail\"} 1\n",
            "verdicts are counted by test");
    has_str(text, "muster_run_duration_seconds 4.5\n", "the run's duration is listed");
    has_str(text,
            "# TYPE muster_stage_duration_seconds gauge\n"
            "muster_stage_duration_seconds{stage=\"links\"} 2.25\n# HELP",
            "... and that of a stage, once");
    free(text);
    survey_filter_past(&survey, is_in_run, NULL);
    text = written_report("prometheus");
    ok(!strstr(text, "n\\\"9"), "a node removed from the cluster is removed from the metrics");
    free(text);
}

/* A few pairs of many nodes take memory by pairs, not by nodes squared. */
static void test_many_nodes(void)
{
    enum { NODES = 30000 };
    char line[256];

    survey_begin(NULL);
    for (int i = 0; i < NODES; i++) {
        snprintf(line, sizeof line,
                 "{'suite':'links','test':'links','metric':'bandwidth','node':'n%d','peer':'n%d','"
                 "part':'eth1','value':%d,'unit':'Mb/s'}",
                 i, (i + 1) % NODES, 1000 + i);
        add_line(line);
    }
    build_survey("30000 nodes");
    is_int(survey.rails[0].measured[SURVEY_BANDWIDTH], NODES, "... with all their values");
    is_near(survey_figure(&survey, 9, 0, SURVEY_BANDWIDTH, true), 1009, 0, "... as senders");
    is_near(survey_figure(&survey, 9, 0, SURVEY_BANDWIDTH, false), 1008, 0, "... and as receivers");
}

/* The time grows with the records, not with their square. */
static void test_many_parts(void)
{
    enum { PAIRS = 30000, LIMITS = 200000, PARTS = 50000 };
    char name[32], peer[32];
    double begin;

    survey_begin(NULL);
    for (int i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof name, "n%d", i % 200);
        snprintf(peer, sizeof peer, "n%d", i / 200);
        add_record(RECORD(.suite = "links", .test = "links", .metric = "bandwidth", .node = name,
                          .peer = peer, .part = "eth1", .value = 100, .unit = "Mb/s"));
    }
    for (int i = 0; i < LIMITS; i++)
        add_record(RECORD(.suite = "certify", .test = "links", .metric = "bandwidth",
                          .part = "eth1", .limit = 90 + i, .unit = "Mb/s"));
    for (int i = 0; i < PARTS; i++) {
        snprintf(name, sizeof name, "allreduce %d", i);
        add_record(RECORD(.suite = "collectives", .test = "collectives.speed", .metric = "busbw",
                          .part = name, .value = 1, .unit = "GB/s"));
    }
    begin = clock_thread_s();
    build_survey("200000 limits of a rail");
    ok(clock_thread_s() - begin < 2, "... in %.1f s", clock_thread_s() - begin);
    is_near((double)survey.rails[0].cells[SURVEY_BANDWIDTH][7].limit, 90, 0,
            "... the first one counts");
    begin = clock_thread_s();
    free(written_report("prometheus"));
    ok(clock_thread_s() - begin < 2, "50000 parts are written in %.1f s", clock_thread_s() - begin);
}

static void test_csv_cells(void)
{
    static const char *const lines[] = {"{'suite':'a','test':'b','node':'=cmd|\\u0027 /C "
                                        "calc\\u0027!A0','part':'+1','peer':'-x','metric':'@m','"
                                        "value':-1.5,'unit':'ms','message':'a \\'b\\', c'}",
                                        NULL};
    char *text;

    survey_begin(lines);
    build_survey("records without a run are a survey");
    text = written_report("csv");
    has_str(text, "\r\n\"\",,\"a\",\"b\",\"'@m\",\"'=cmd|' /C calc'!A0\",\"'+1\",\"'-x\",-1.5,",
            "a cell that looks like a formula becomes text, a number stays a number");
    has_str(text, ",\"a \"\"b\"\", c\"\r\n", "quotes are doubled");
    free(text);
}

/* One failure follows more warnings than a report shows. */
static void keeps_failures_before_warnings(void)
{
    enum { WARNINGS = 20000 }; /* number of rows on a page */
    char *text;

    survey_begin(NULL);
    for (int i = 0; i <= WARNINGS; i++)
        add_line(i < WARNINGS
                     ? "{'suite':'certify','test':'host.config','part':'kernel','verdict':'warn'}"
                     : "{'suite':'certify','test':'links','part':'uplink leaf2','verdict':'fail'}");
    build_survey("many warnings");
    text = written_report("table");
    has_str(text, "uplink leaf2", "the failure is in the table");
    has_str(text, "and 19961 more\n", "... and warnings are left out");
    free(text);
    text = written_report("html");
    has_str(text, "\"uplink leaf2\"", "... it is on the page, too");
    has_str(text, "\"bad_left_out\":1,", "... which leaves out one warning");
    free(text);
}

/* A fault that many nodes share. */
static void test_common_faults(void)
{
    static const char *const lines[] = {
        "{'suite':'certify','test':'certify','metric':'alike','part':'eth1','value':12,'unit':'"
        "count','verdict':'unknown','code':'many_alike','message':'12 of 16 nodes fail alike'}",
        NULL};
    char *text;

    survey_begin(lines);
    build_survey("a fault that many nodes share");
    text = written_report("table");
    has_str(text, "eth1: 12 of 16 nodes fail alike", "... is in the table");
    free(text);
}

/* A node that passed with a warning, as muster certify has it in memory. */
static void test_pass_with_warning(void)
{
    struct record record = RECORD(.suite = "certify", .test = "certify", .node = "n1",
                                  .verdict = VERDICT_PASS, .code = FAULT_RAIL_SLOW);

    survey_begin(NULL);
    records_add(&records, &record);
    build_survey("a node that passed");
    is_int(survey.nodes[0].code, FAULT_NONE, "... has no code to act on");
}

/* Returns the JSON data of the page. */
static json_t *page_data(const char *page)
{
    const char *begin = strstr(page, "type=\"application/json\">");
    const char *end = begin ? strstr(begin, "</script>") : NULL;

    begin = begin ? strchr(begin, '>') + 1 : NULL;
    return end ? json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, NULL) : NULL;
}

static double page_cell(const json_t *metric, size_t index)
{
    const char *text = json_string_value(json_object_get(metric, "values"));
    unsigned bits[4] = {0}, code;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[2];

    for (int k = 0; k < 2; k++) {
        size_t at = 2 * index + (size_t)k, first = at / 3 * 4;
        unsigned word = 0;

        for (int i = 0; i < 4; i++) {
            const char *found = strchr(letters, text[first + (size_t)i]);

            bits[i] = found ? (unsigned)(found - letters) : 0;
            word = word << 6 | bits[i];
        }
        bytes[k] = (unsigned char)(word >> (16 - 8 * (at % 3)));
    }
    code = bytes[0] | (unsigned)bytes[1] << 8;
    return exp(json_number_value(json_object_get(metric, "origin")) +
               code * json_number_value(json_object_get(metric, "step")));
}

static void test_page(void)
{
    char *text = written_report("html");
    json_t *data = page_data(text), *metric;

    ok(data != NULL, "the page's data is JSON");
    has_str(text, "<title>muster r</title>", "the page has a title");
    ok(!strstr(text, "@@"), "no placeholder of the template is left");
    ok(!strstr(text, "<b>50"), "text of a record is not interpreted as markup");
    ok(!strstr(text, "http://") || strstr(text, "http://www.w3.org/2000/svg"),
       "no URL is loaded; only the SVG namespace is named");
    metric = json_object_get(json_array_get(json_object_get(data, "rails"), 0), "bandwidth");
    is_int(json_integer_value(json_object_get(metric, "count")), 3, "pairs are counted");
    is_int(json_integer_value(json_array_get(json_object_get(metric, "mask"), 0)), 1,
           "the first cell is a node with itself");
    is_int(json_integer_value(json_array_get(json_object_get(metric, "mask"), 1)), 3,
           "... the next ones were measured");
    is_near(page_cell(metric, 0), 190, 0.02, "a value keeps its precision in 16 bits");
    is_near(page_cell(metric, 2), 50, 0.005, "... and so does another one");
    json_decref(data);
    free(text);
}

static void test_formats(void)
{
    char *text = written_report("json");
    const char *wanted;
    size_t lines = 0, found = 0;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    is_int(lines, survey.count, "JSON lines has a line per record");
    has_str(text,
            "{\"run\":\"r\",\"time\":15,\"suite\":\"certify\",\"test\":\"run\","
            "\"metric\":\"seconds\",\"value\":4.5,\"unit\":\"s\"}\n",
            "... unchanged");
    free(text);
    for (size_t i = 0; (wanted = conf_report_format(i)); i++)
        found += format_find(wanted) != NULL;
    for (size_t i = 0; report_formats[i].name; i++)
        is_str(conf_report_format(i) ? conf_report_format(i) : "", report_formats[i].name,
               "the configuration takes %s", report_formats[i].name);
    ok(found > 0 && !report_formats[found].name, "... and no other format");
}

static void check_doubt(const char *line, const char *expected)
{
    struct error err = {""};

    survey_begin(NULL);
    if (records_parse_bytes(&records, json(line), strlen(line), &err) == 0)
        recordfile_doubt(RECORD_AT(&records, 0), &err);
    has_str(err.text, expected, "%s", expected);
}

static void test_doubts(void)
{
    check_doubt("{'suite':'a','test':'b','value':'1'}", "value is a string, expected a number");
    check_doubt("{'suite':'a','test':'b','verdict':'good'}", "verdict is good, expected pass");
    check_doubt("{'suite':'a'}", "no field test");
    check_doubt("[]", "the line is an array, expected an object");
    check_doubt("{'suite':'a','test':'b','value':1}", "value without a unit");
    check_doubt("{'suite':'a','test':'b','value':-1,'unit':'Mb/s'}", "value is -1 Mb/s");
    check_doubt("{'suite':'a','test':'b','value':1e300,'unit':'ms'}", "value is 1e+300 ms");
    check_doubt("{'suite':'a','test':'b','value':1e999,'unit':'ms'}", "overflow");
    check_doubt("{'suite':'a','test':'b','low':2,'high':1,'unit':'ms'}", "low is 2");
    check_doubt("{'suite':'a','test':'b','time':1e12}", "time is 1000000000000");
    check_doubt("{'suite':'links','test':'links','metric':'bandwidth','value':50,'unit':'Mb/"
                "s','limit':160,'verdict':'pass'}",
                "on the wrong side of its limit");
    check_doubt(
        "{'suite':'links','test':'links','metric':'latency','value':50,'unit':'us','limit':16,'"
        "verdict':'pass'}",
        "on the wrong side of its limit");
}

static size_t message_count;
static char last_message[600];

static void count_message(const char *text, void *context)
{
    message_count++;
    snprintf(last_message, sizeof last_message, "%s", text);
}

static void test_record_files(void)
{
    char path[] = "/tmp/muster-survey-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    const struct recordfile_listener listener = {.report = count_message};
    struct error err;

    if (!file) {
        tap_skip("no file can be made in /tmp");
        return;
    }
    survey_begin(NULL);
    fputs("{\"suite\":\"a\",\"test\":\"b\"}\r\n\nno record\n", file);
    for (int i = 0; i < RECORDFILE_LINE + 1; i++)
        fputc('x', file);
    fputs("\n{\"suite\":\"a\",\"test\":\"c\"}\n", file);
    fwrite("{\"suite\":\"a\",\0\"test\":\"b\"}\n", 1, 26, file);
    fputs("{\"suite\":\"a\",\"test\":\"d", file);
    fclose(file);
    is_int(recordfile_read(path, &records, &listener, &err), 5, "five lines are left out");
    is_int(message_count, 5, "... each with a message");
    is_int(records.count, 2, "the other lines are read");
    has_str(last_message, ":7: cut off at the end of the file: ",
            "the last message says that its line is cut off");
    has_str(last_message, path, "... with the file's name");
    unlink(path);
    is_int(recordfile_read(path, &records, &listener, &err), -1, "a missing file is an error");
    has_str(err.text, "No such file", "... with the reason");
    is_int(recordfile_read("/", &records, &listener, &err), -1, "a directory is an error");
    records_clear(&records);
}

static char directory[] = "/tmp/muster-survey-XXXXXX";

static const char *path_in(const char *name)
{
    static char paths[4][64];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof *paths, "%s/%s", directory, name);
    return path;
}

static bool saves_report(const char *name, struct error *err)
{
    return format_save(format_find("junit"), &survey, path_in(name), err) == 0;
}

/* Returns the size of the file at the path, which may be a link; -1: no regular file. */
static long size_of(const char *name)
{
    struct stat status;

    return stat(path_in(name), &status) == 0 && S_ISREG(status.st_mode) ? (long)status.st_size : -1;
}

/* Root writes a report into a directory where others can write. */
static void test_saves_where_others_write(void)
{
    struct error err = {""};
    char bytes[1 << 16];
    int reader;

    if (!mkdtemp(directory)) {
        ok(false, "a folder");
        return;
    }
    alarm(10);
    ok(mkfifo(path_in("pipe"), 0600) == 0 && !saves_report("pipe", &err),
       "a pipe without a reader does not block a report");
    has_str(err.text, "/pipe: nobody reads from it", "... and is an error");
    reader = open(path_in("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ok(saves_report("pipe", &err), "a pipe with a reader gets the report");
    ok(read(reader, bytes, sizeof bytes) > 100, "... completely");
    fclose(fopen(path_in("file"), "we"));
    ok(symlink("file", path_in("link")) == 0 && saves_report("link", &err),
       "a link to a file is replaced");
    is_int(size_of("file"), 0, "... its target stays");
    ok(size_of("link") > 100, "... and the report is in its place");
    ok(symlink("pipe", path_in("other")) == 0 && !saves_report("other", &err),
       "a link to a pipe is not followed");
    has_str(err.text, "/other: is not a regular file", "... and is an error");
    is_int(read(reader, bytes, sizeof bytes), 0, "... its target gets nothing");
    close(reader);
    ok(!saves_report(".", &err), "a directory is refused");
    ok(format_save(format_find("csv"), &survey, "/dev/null", &err) == 0,
       "a character device is accepted");
    if (geteuid() == 0 && mknod(path_in("disk"), S_IFBLK | 0600, makedev(7, 99)) == 0) {
        ok(!saves_report("disk", &err), "a disk is refused");
        unlink(path_in("disk"));
    }
    for (const char *const *name = (const char *const[]){"pipe", "file", "link", "other", NULL};
         *name; name++)
        unlink(path_in(*name));
    is_int(rmdir(directory), 0, "no other file is left");
    alarm(0);
}

/* `muster report -o >(program)`: the pipe blocks and has room for a part of the report only. */
static void test_save_to_slow_reader(void)
{
    const struct report_format *html = format_find("html");
    char *page = NULL, numbered[32], bytes[4096];
    size_t size = 0, all = 0;
    FILE *stream = open_memstream(&page, &size);
    int ends[2], status = -1;
    pid_t reader;

    if (!stream || pipe(ends) != 0 || html->write(stream, &survey) != 0 || fclose(stream) != 0) {
        ok(false, "a pipe");
        return;
    }
    fflush(stdout);
    reader = fork();
    if (reader == 0) {
        ssize_t got;

        close(ends[1]);
        usleep(200000);
        while ((got = read(ends[0], bytes, sizeof bytes)) > 0)
            all += (size_t)got;
        _exit(all == size ? 0 : 1);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    snprintf(numbered, sizeof numbered, "/dev/fd/%d", ends[1]);
    ok(size > 4096 && format_save(html, &survey, numbered, NULL) == 0,
       "a report of %zu bytes is written to a pipe of 4096", size);
    close(ends[1]);
    ok(waitpid(reader, &status, 0) == reader && status == 0, "... and is read completely");
    free(page);
}

/* Makes a separate /dev, so that a failure of this test does not damage the host's. */
static bool has_own_dev(void)
{
    return geteuid() != 0 ||
           (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("none", "/dev", "tmpfs", 0, NULL) == 0 &&
            symlink("/proc/self/fd", "/dev/fd") == 0 &&
            symlink("/proc/self/fd/1", "/dev/stdout") == 0);
}

/* Standard output is a file, as in `muster report -o /dev/stdout >file`. */
static void test_save_to_descriptors(void)
{
    struct error err = {""};
    const struct report_format *csv = format_find("csv");
    char file[] = "/tmp/muster-survey-XXXXXX", numbered[32], kept_link[64] = "", link[64] = "";
    int fd = mkstemp(file), kept = dup(1);
    struct stat status = {0}, link_status = {0};
    long size, before;
    bool is_saved;

    if (fd < 0) {
        ok(false, "a file");
        return;
    }
    (void)!readlink("/dev/stdout", kept_link, sizeof kept_link - 1);
    fflush(stdout);
    dup2(fd, 1);
    is_saved = write(1, "before\n", 7) == 7 && format_can_save("/dev/stdout", &err) == 0 &&
               format_save(csv, &survey, "/dev/stdout", &err) == 0 && write(1, "after\n", 6) == 6;
    dup2(kept, 1);
    close(kept);
    (void)!readlink("/dev/stdout", link, sizeof link - 1);
    is_str(link, kept_link, "/dev/stdout stays a link");
    ok(is_saved && fstat(fd, &status) == 0 && stat(file, &link_status) == 0 &&
           link_status.st_ino == status.st_ino,
       "the report is written to the file of standard output");
    size = (long)status.st_size - (long)strlen("before\nafter\n");
    ok(size > 100, "... between other output");
    for (size_t i = 0; i < 2; i++) {
        before = (long)status.st_size;
        snprintf(numbered, sizeof numbered, i == 0 ? "/dev/fd/%d" : "/proc/self/fd/%d", fd);
        ok(format_can_save(numbered, &err) == 0 && format_save(csv, &survey, numbered, &err) == 0,
           "%s stands for that descriptor", numbered);
        is_int(fstat(fd, &status) == 0 ? (long)status.st_size - before : -1, size,
               "... which is written at its position");
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    ok(format_save(csv, &survey, numbered, &err) != 0, "a close-on-exec descriptor is refused");
    if (geteuid() == 0)
        ok(symlink(file, "/dev/other") == 0 && format_can_save("/dev/other", &err) != 0 &&
               format_save(csv, &survey, "//dev/other", &err) != 0,
           "a link below /dev to a file is not replaced");
    close(fd);
    snprintf(numbered, sizeof numbered, "/dev/fd/%d", fd);
    ok(format_can_save(numbered, &err) != 0 && format_save(csv, &survey, numbered, &err) != 0,
       "a closed descriptor is refused");
    has_str(err.text, "Bad file descriptor", "... with the reason");
    unlink(file);
}

int main(void)
{
    struct error err;

    survey_begin(two_runs);
    build_survey("a survey of a run is built");
    test_order();
    test_junit();
    test_page();
    test_formats();
    test_prometheus();
    survey_clear(&survey);
    is_int(survey_build(&records, "old", &survey, &err), 0, "a run can be chosen");
    is_int(survey.node_count, 1, "... with its own nodes only");
    survey_clear(&survey);
    is_int(survey_build(&records, "none", &survey, &err), -1, "a missing run is an error");
    has_str(err.text, "no record of run none, only of others", "... which names the run");
    test_csv_cells();
    test_many_nodes();
    test_many_parts();
    keeps_failures_before_warnings();
    test_common_faults();
    test_pass_with_warning();
    test_doubts();
    test_record_files();
    survey_begin(two_runs);
    build_survey("a run");
    test_saves_where_others_write();
    test_save_to_slow_reader();
    if (has_own_dev())
        test_save_to_descriptors();
    else
        tap_skip("no mount namespace: %m");
    survey_begin(NULL);
    return tap_done();
}
