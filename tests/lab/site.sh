# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# site.sh - lab up --site DIR: a site's scheduling in the lab, from what muster policy check --save wrote:
# reduced to the lab's nodes, limits in proportion, times divided by --speed. Prints what is left out.

# Functions for the awk programs below: lists and times. Most of Slurm's times are in whole minutes.
readonly site_awk='
function seconds(text,    days, parts, count) {
    if (split(text, parts, "-") == 2) { days = parts[1]; text = parts[2] }
    count = split(text, parts, ":")
    return days * 86400 + (count == 3 ? parts[1] * 3600 + parts[2] * 60 + parts[3] : parts[1] * 60 + parts[2])
}
function up(value) { return value == int(value) ? value : int(value) + 1 }
function minutes(text,    s) { # "UNLIMITED" stays
    if (text !~ /^[0-9:-]+$/) return text
    s = seconds(text) / speed
    return s <= 0 ? 0 : up(s / 60)
}
function scaled(value) { return value <= 0 ? value : up(value / speed) }
function grace(s) { s /= speed; return s < 30 ? 0 : up(s) } # slurmctld checks for its end every 30 s
function shrunk(list,    words, count, i, pair, text) { # "cpu=64,gres/gpu=8"
    count = split(list, words, ",")
    for (i = 1; i <= count; i++) {
        split(words[i], pair, "=")
        if (share < 1) {
            match(pair[2], /[0-9.]+/)
            pair[2] = up(substr(pair[2], 1, RLENGTH) * share) substr(pair[2], RLENGTH + 1)
        }
        text = text (i > 1 ? "," : "") pair[1] "=" pair[2]
    }
    return text
}
function leave_out(what) { print what >"/dev/stderr" }
'
site_run() { # FILE AWK: runs AWK on a file of the site; what it leaves out goes to site.left
    awk -v speed="$speed" -v count="$nodes" -v sites="$(site_count)" -v most=$gpus -v extra="$(scheduler_extra)" \
        -v nodes_file="$site/nodes" -v gres_conf="$state/site.gres" -v mode="$(site_value PreemptMode)" "$site_awk BEGIN { share = count < sites ? count / sites : 1 } $2" \
        "$site/$1" 2>>"$state/site.left"
}

site_need() {
    local file
    for file in config partitions nodes qos associations; do
        [ -f "$site/$file" ] || usage_error "there is no $site/$file: muster policy check --save $site writes it"
    done
    site=$(realpath "$site")
}

site_count() { grep -c '^NodeName=' "$site/nodes"; }

site_value() { sed -n "s/^$1 *= //p" "$site/config"; }

site_users() { # prints NAME:ACCOUNT:SHARES, as accounting_users has them; root exists already
    awk -F'|' 'NR > 1 && $2 != "" && $2 != "root" && !seen[$2]++ { printf "%s:%s:%s ", $2, $1, $5 }' "$site/associations"
}

site_conf() {
    # a requeued job waits as long as a credential is valid
    echo "AuthInfo=cred_expire=$((speed < 12 ? 120 / speed : 10))"
    # shellcheck disable=SC2016 # awk's own
    site_run config '
    function parameters(text,    words, count, i, pair, set) {
        count = split(text, words, ",")
        text = ""
        for (i = 1; i <= count; i++) {
            split(words[i], pair, "=")
            set[pair[1]] = 1
            if (pair[1] ~ /^(bf_interval|bf_resolution|sched_interval|bf_min_age_reserve|bf_window)$/)
                words[i] = pair[1] "=" scaled(pair[2])
            text = text (i > 1 ? "," : "") words[i]
        }
        if (!("bf_interval" in set)) text = text (text == "" ? "" : ",") "bf_interval=" scaled(30)
        if (!("sched_interval" in set)) text = text ",sched_interval=" scaled(60)
        return text (("batch_sched_delay" in set) ? "" : ",batch_sched_delay=0")
    }
    {
        key = $1; value = substr($0, index($0, "=") + 2); sub(/ +$/, "", value)
        if (value == "(null)" || value == "" || value == "NONE" || value == "N/A" || index($0, "=") == 0) next
    }
    key ~ /^Priority(DecayHalfLife|CalcPeriod|MaxAge)$/ { print key "=" minutes(value); next }
    key == "PreemptExemptTime" { print key "=00:00:" sprintf("%02d", scaled(seconds(value))); next }
    key == "SchedulerParameters" { had = 1; print key "=" parameters(value) extra; next }
    key == "AccountingStorageTRES" {
        count = split(value, words, ","); value = "gres/gpu"
        for (i = 1; i <= count; i++)
            if (words[i] ~ /^gres\/gpu:/) value = value "," words[i]
            else if (words[i] ~ /^(gres|license|bb)\// && words[i] != "gres/gpu") leave_out(key "=" words[i])
        print key "=" value; next
    }
    key ~ /^(PriorityType|PriorityFlags|PriorityFavorSmall|PriorityWeight.*|PreemptType|PreemptMode)$/ ||
    key ~ /^(SchedulerType|AccountingStorageEnforce|EnforcePartLimits|FairShareDampeningFactor|JobRequeue)$/ {
        print key "=" value; next
    }
    key ~ /^(PriorityUsageResetPeriod|PrioritySite.*|PriorityParameters|JobSubmitPlugins|Licenses|Prolog|PrologSlurmctld)$/ ||
    (key == "OverTimeLimit" && value !~ /^0 /) { leave_out(key "=" value) }
    END { if (!had) print "SchedulerParameters=" parameters("") extra }'
}

# The site's node i of N is the lab's node i * K / N: the partitions keep their shares.
site_nodes() {
    # shellcheck disable=SC2016 # awk's own
    site_run nodes '
    function get(key) { return match($0, "(^| )" key "=[^ ]*") ? substr($0, RSTART, RLENGTH) : "" }
    /^NodeName=/ {
        node = int(i++ * count / sites) + 1
        if (made[node]++) next
        cpus = get("CPUTot"); sub(/.*=/, "", cpus)
        memory = get("RealMemory"); sub(/.*=/, "", memory)
        line = "NodeName=n" node " CPUs=" cpus " RealMemory=" memory
        gres = get("Gres"); sub(/^ *Gres=/, "", gres); gsub(/\([^)]*\)/, "", gres)
        split(gres, words, ","); split(words[1], part, ":")
        if (part[1] == "gpu") {
            type = part[3] == "" ? "" : part[2]; n = part[3] == "" ? part[2] : part[3]
            if (n + 0 == 0) n = 1
            if (n > most) { leave_out("GPUs of a node beyond " most); n = most }
            line = line " Gres=gpu:" (type == "" ? "" : type ":") n
            print "NodeName=n" node " Name=gpu " (type == "" ? "" : "Type=" type " ") "File=/dev/gpu[0-" n - 1 "]" >gres_conf
        } else if (gres !~ /^(\(null\))?$/)
            leave_out("Gres=" gres)
        if (get("AvailableFeatures") !~ /=\(null\)$/) leave_out("features of nodes")
        print line " State=UNKNOWN"
    }'
}

site_partitions() {
    # shellcheck disable=SC2016 # awk's own
    site_run partitions '
    BEGIN {
        while ((getline line <nodes_file) > 0)
            if (line ~ /^NodeName=/) {
                node = int(i++ * count / sites) + 1
                match(line, / Partitions=[^ ]*/); list = substr(line, RSTART + 12, RLENGTH - 12)
                n = split(list, words, ",")
                for (k = 1; k <= n; k++)
                    if (!has[words[k], node]++) members[words[k]] = members[words[k]] (members[words[k]] == "" ? "" : ",") "n" node
            }
    }
    /^PartitionName=/ {
        name = $1; sub(/.*=/, "", name)
        text = "PartitionName=" name " Nodes=" (members[name] == "" ? "\"\"" : members[name])
        for (k = 2; k <= NF; k++) {
            key = $k; sub(/=.*/, "", key); value = substr($k, length(key) + 2)
            if (value ~ /^(N\/A|NONE|ALL|\(null\)|ANY)$/ || key ~ /^(Nodes|Total|State|TRES$)/ || value == mode && key == "PreemptMode")
                ;
            else if (key ~ /^(MaxTime|DefaultTime)$/) text = text " " key "=" minutes(value)
            else if (key == "GraceTime") text = text " " key "=" grace(value)
            else if (key ~ /^(Default|PriorityTier|PriorityJobFactor|PreemptMode|OverSubscribe|QoS|LLN|ExclusiveUser|RootOnly|ReqResv)$/ ||
                     key ~ /^((Allow|Deny)(Qos|Accounts)|TRESBillingWeights|Hidden|DisableRootJobs)$/) text = text " " key "=" value
            else if (value !~ /^(UNLIMITED|NO|0)$/ && !(key == "MinNodes" && value == 1)) leave_out(name ": " $k)
        }
        print text " State=UP"
    }'
}

site_qos() { awk -F'|' 'NR > 1 && $1 != "normal" { print "add qos " $1 }' "$site/qos"; }

# Prints commands of sacctmgr. They run after site_qos, because a QOS must exist before a partition uses it and
# before another QOS preempts it, and after slurmctld has sent its TRES to slurmdbd, which limits need.
site_accounts() {
    # shellcheck disable=SC2016 # awk's own
    local limits='
    function set(name, value) { if (value != "" && value != "cluster") text = text " " name "=" value }
    BEGIN { FS = "|" }'
    # shellcheck disable=SC2016 # awk's own
    site_run qos "$limits"'
    NR == 1 { next }
    {
        text = ""
        set("priority", $2); set("preempt", $3); set("preemptmode", $4)
        if ($5 != "") set("preemptexempttime", scaled(seconds($5)))
        if ($6 != "") set("gracetime", grace(seconds($6)))
        set("flags", $7); set("mintres", $8); set("maxwall", minutes($9)); set("maxtres", shrunk($10))
        set("maxtrespernode", $11); set("maxtresperuser", shrunk($12)); set("maxtresperaccount", shrunk($13))
        set("maxjobsperuser", $14); set("maxjobsperaccount", $15); set("maxsubmitjobsperuser", $16)
        set("maxsubmitjobsperaccount", $17); set("grptres", shrunk($18)); set("grpjobs", $20); set("grpsubmitjobs", $21)
        set("grpwall", minutes($22))
        if ($19 != "") leave_out("QOS " $1 ": GrpTRESMins=" $19)
        if (text != "") lines[++n] = "modify qos " $1 " set" text
    }
    END { for (i = 1; i <= n; i++) print lines[i] }'
    # shellcheck disable=SC2016 # awk's own
    site_run associations "$limits"'
    NR == 1 || ($1 == "root" && $2 == "") { next }
    {
        text = ""
        if ($2 != "") { if ($3 != "") set("partition", $3) } else set("parent", $4)
        set("fairshare", $5); set("qos", $6); set("defaultqos", $7); set("maxwall", minutes($8)); set("maxtres", shrunk($9))
        set("maxtrespernode", $10); set("maxjobs", $11); set("maxsubmitjobs", $12); set("grptres", shrunk($13))
        set("grpjobs", $15); set("grpsubmitjobs", $16); set("grpwall", minutes($17))
        if ($14 != "") leave_out($1 " " $2 ": GrpTRESMins=" $14)
        if ($2 == "root") { sub(/ fairshare=[0-9]*/, "", text); print "modify user root set" text }
        else if ($2 != "") print "add user " $2 " account=" $1 text
        else print "add account " $1 text
    }'
}

site_print_summary() {
    print_info "site $site: $(site_count) nodes are $nodes here$([ "$speed" = 1 ] || echo ", times are divided by $speed")"
    [ ! -s "$state/site.left" ] || sort -u "$state/site.left" | sed "s/^/$me: left out: /"
    print_info 'left out: reservations, topology, node weights, memory and processors that jobs get by default'
}
