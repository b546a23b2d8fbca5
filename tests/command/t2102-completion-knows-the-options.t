#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Completion in bash and zsh: sub-commands, options, and values of options, each from the table that
# parses them.
. "$(dirname "$0")/command.sh"
needs muster

mkdir "$dir/bin" "$dir/certificates"
ln -s "$top_builddir"/muster* "$dir/bin/"
cat >"$dir/bin/sinfo" <<'EOF2'
#!/bin/sh
case "$*" in *%N*) printf 'n1\nn2\n' ;; *%R*) printf 'batch\ndebug\n' ;; esac
EOF2
chmod +x "$dir/bin/sinfo"

# the completions that readline would offer for a line, sorted; as in a shell, = is a word of its own
complete_bash() { # LINE
    (
        cd "$dir" || exit
        PATH=$dir/bin:$PATH bash --norc -c '
            . "$1"
            compopt() { :; } # needs readline
            read -ra COMP_WORDS <<<"${2//=/ = }"
            [[ $2 != *" " && $2 != *= ]] || COMP_WORDS+=("")
            [[ $2 != *= ]] || unset "COMP_WORDS[-1]"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _muster
            printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "
        ' bash "$top_srcdir/etc/completion/muster" "$1"
    )
}

is "$(complete_bash 'muster cert')" 'certificate certify' 'sub-commands'
is "$(complete_bash 'muster help int')" 'interfaces' '... also after help'
is "$(complete_bash 'muster certify --no')" '--no-drain --nodes --nodes-at-a-time' 'options'
like "$(complete_bash 'muster certify -')" '^--campaign .*--suspects --time-limit --version .*-c .*-w$' '... all of them'
is "$(complete_bash 'muster certify --level ')" 'full quick standard' 'values of an option'
is "$(complete_bash 'muster certify -l q')" 'quick' '... of a short option'
is "$(complete_bash 'muster certify --level=')" 'full quick standard' '... after ='
is "$(complete_bash 'muster certify --level=s')" 'standard' '... with a prefix'
is "$(complete_bash 'muster report --format j')" 'json junit' '... of another sub-command'
is "$(complete_bash 'muster certify --due --p')" '--partition' 'no values after an option without a value'
is "$(complete_bash 'muster certify -w n')" 'n1 n2' 'nodes'
is "$(complete_bash 'muster compare --partition ')" 'batch debug' 'partitions'
is "$(complete_bash 'muster check --root cert')" 'certificates' 'files'
is "$(complete_bash 'muster certificate v')" 'verify' 'actions'
is "$(complete_bash 'muster policy ')" 'check simulate verify' '... of each usage'
is "$(complete_bash 'muster report cert')" 'certificates' '... or files'
is "$(complete_bash 'muster topology --fabric --wr')" '--write-topology' 'options of --fabric'
like "$(bash --norc -c '. "$1"; complete -p muster muster-links' bash "$top_srcdir/etc/completion/muster")" \
    'complete -F _muster muster-links' 'the programs are completed, too'
ok 'shellcheck finds nothing' sh -c \
    '! command -v shellcheck >/dev/null || shellcheck -s bash "$1"' sh "$top_srcdir/etc/completion/muster"

# zsh on a pseudo-terminal: the completions that it lists for a line
if command -v zsh >/dev/null; then
    complete_zsh() { # LINE
        PATH=$dir/bin:$PATH timeout 600 env -C "$dir" zsh -f -c '
            zmodload zsh/zpty
            zpty shell "TERM=dumb zsh -f -i"
            zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; zstyle \":completion:*\" list-colors; LISTMAX=1000; COLUMNS=200; echo BEG\"\"IN"
            zpty -r shell text "*BEGIN*"
            zpty -n -w shell "$2"$'"'\t\t'"'
            zpty -r -m shell text "*$3*" && print -r -- "$text"
            zpty -d shell
        ' zsh "$top_srcdir/etc/completion" "$1" "$2" </dev/null 2>&1
    }
    like "$(complete_zsh 'muster certify --no-d' 'no-drain')" 'no-drain' 'zsh: options'
    like "$(complete_zsh 'muster certify --level ' 'standard')" 'quick' 'zsh: values of an option'
    like "$(complete_zsh 'muster inven' 'inventory')" 'inventory' 'zsh: sub-commands'
    like "$(complete_zsh 'muster certificate v' 'verify')" 'verify' 'zsh: actions'
    like "$(complete_zsh 'muster policy ' 'verify')" 'check.*simulate.*verify' 'zsh: ... of each usage'
    like "$(complete_zsh 'muster policy check cert' 'certificates')" 'certificates' 'zsh: ... and files after it'
    like "$(complete_zsh 'muster certify --nodes ' 'n2')" 'n1.*n2' 'zsh: nodes'
    like "$(complete_zsh 'muster compare --partition ' 'debug')" 'batch.*debug' 'zsh: partitions'
else
    skip 8 'no zsh'
fi
done_testing
