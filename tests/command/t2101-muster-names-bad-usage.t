#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The dispatcher: help, version, and one clear line and status 2 for unknown commands and options.
. "$(dirname "$0")/command.sh"
needs muster

text=$("$muster" --help)
is "$?" 0 '--help succeeds'
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$text")
like "$commands" '^inventory$' 'it lists inventory'
for command in $commands; do
    help=$("$muster" help "$command" </dev/null)
    is "$?" 0 "help $command succeeds"
    like "$help" "^Usage: muster $command" "... and prints its usage"
    is "$("$muster" "$command" --help </dev/null)" "$help" "... like $command --help"
    "$muster" "$command" --no-such-option </dev/null >/dev/null 2>&1
    is "$?" 2 "... and an unknown option is a usage error"
    "$muster" "$command" --help </dev/null >/dev/full 2>/dev/null
    is "$?" 3 '... and a full standard output: 3'
    case $command in
    suspects | policy) ;; # these read no configuration
    *)
        "$muster" "$command" --config=/no/such </dev/null >/dev/null 2>&1
        is "$?" 2 '... and a missing configuration: 2'
        ;;
    esac
    case $command in
    compare | history | report) ;; # these take arguments
    *)
        "$muster" "$command" extra </dev/null >/dev/null 2>&1
        is "$?" 2 '... and an extra argument: 2'
        ;;
    esac
done

# The table of exit statuses in muster(1) matches the commands and the --help of each.
table=$(sed -n '/^\.SH EXIT STATUS/,/^\.SH ENV/p' "$top_srcdir/doc/muster.1.in" |
    sed -n '/^COMMAND/,/^\.EE/{/^COMMAND/d;/^\.EE/d;p}')
is "$(cut -d' ' -f1 <<<"$table" | xargs)" "$(xargs <<<"$commands")" \
    'the table of exit statuses has each command, in order'
while IFS= read -r row; do
    command=${row%% *}
    said=$("$muster" "$command" --help | tr '\n' ' ' | grep -o 'Exit status: .*' | tr -s ' ')
    like "$said" '^Exit status: 0' "$command --help has its exit statuses"
    like "$said" '[, ]2 ' '... including 2'
    for status in 1 3; do
        cell=${row:13}
        [ "$status" = 1 ] && cell=${cell:25:26} || cell=${cell:51}
        if [ "${cell%% *}" = - ]; then
            unlike "$said" "[, ]$status " "... and not $status, as in the table"
        else
            like "$said" "[, ]$status " "... and $status, as in the table"
        fi
    done
done <<<"$table"

# Commands for root are refused to other users before any request to Slurm.
nobody() { timeout 600 setpriv --reuid=65534 --clear-groups "$muster" "$@" 2>&1; }
if [ "$(id -u)" -eq 0 ] && nobody --version >/dev/null; then
    for words in certify 'certify -w n1' reserve 'reserve -w n1' 'reserve --release n1' 'revoke -w n1'; do
        # shellcheck disable=SC2086 # words
        text=$(SLURM_CONF=/no/such nobody $words)
        is "$?" 2 "muster $words as a user: a usage error"
        like "$text" "^muster ${words%% *}: .* needs? root" '... with a message that root is needed'
    done
fi
like "$("$muster" --version)" '^muster [0-9]' '--version'

text=$("$muster" inventry 2>&1)
is "$?" 2 'an unknown command is a usage error'
is "$text" "muster: unknown command 'inventry'; muster --help lists all commands" '... in one clear line'
text=$("$muster" --frob 2>&1)
is "$?" 2 'an unknown option is a usage error'
is "$text" "muster: unknown option '--frob' before the command; see muster --help" '... in one line'
"$muster" >/dev/null 2>&1
is "$?" 2 'no command is a usage error'
"$muster" help frob >/dev/null 2>&1
is "$?" 2 'help on an unknown command is a usage error'
for option in --config= --root=; do
    text=$("$muster" inventory "$option" 2>&1)
    is "$?" 2 "an empty value is a usage error: $option"
    like "$text" "^muster inventory: option ${option%=} needs an argument, " \
        '... and its option is named'
done
text=$("$muster" certify -nc '' 2>&1)
is "$?" 2 'so is an empty value in a separate argument'
like "$text" "^muster certify: option --config needs an argument, FILE" '... and its option is named'
for option in --junit=/no/such/report --report=html:/no/such/report; do
    text=$("$muster" certify --dry-run $option 2>&1)
    is "$?/$text" '2/muster certify: /no/such/report: No such file or directory' \
        "a report that cannot be written is refused before the tests: $option"
done
text=$("$muster" inventory extra 2>&1)
is "$?" 2 'an extra argument is a usage error'
like "$text" "^muster inventory: unexpected argument \"extra\"" '... and is named'

like "$("$muster" check --only host.space <&- 2>&-)" '^[a-z]+ +host\.space .* free' \
    'closed standard input and error do no harm'
if env --ignore-signal=CHLD true 2>/dev/null; then
    : >"$dir/empty.conf"
    is "$(SLURM_CONF=$dir/empty.conf env --ignore-signal=CHLD "$muster" watch 1 2>&1)" \
        "$(SLURM_CONF=$dir/empty.conf "$muster" watch 1 2>&1)" 'with SIGCHLD ignored it still waits for its children'
else
    skip 1 'env has no --ignore-signal'
fi
text=$(SLURM_CONF=/no/such timeout 30 "$muster" watch 1 2>&1)
is "$? $text" "3 muster watch: cannot read Slurm's configuration: SLURM_CONF=/no/such: No such file or directory" \
    'a slurm.conf that is not there is reported at once'
done_testing
