#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Slurm loads the plugin into its daemons and commands, and calls symbols named init and fini: the
# plugin exports only its hooks, and needs only the C library.

. "$(dirname "$0")/../tap.sh"

plugin=${top_builddir:-.}/spank/spank_muster.so
[ -e "$plugin" ] || skip_all 'no plugin in this build'

names() { # defined|undefined: symbols without the C library's
    nm -D "--$1-only" "$plugin" | awk '{ print $NF }' | grep -v '@' | sort | paste -sd' '
}

# only with releases of Slurm that declare it
mode=
if grep -q '^#define HAVE_DECL_ESPANK_JOB_FAILURE 1' "${top_builddir:-.}/config.h"; then
    mode='slurm_spank_init_failure_mode '
fi
is "$(names defined)" "plugin_name plugin_type plugin_version slurm_spank_exit \
slurm_spank_init ${mode}slurm_spank_init_post_opt slurm_spank_job_epilog slurm_spank_job_prolog \
slurm_spank_local_user_init slurm_spank_task_init \
spank_plugin_version" 'exports its hooks and nothing else'

# libraries of glibc, and of the sanitizers if this build has them
own='libc|libdl|ld-linux.*'
if is_sanitized "$plugin"; then own+='|libasan|libubsan|libgcc_s'; fi
is "$(readelf -d "$plugin" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE "^($own)\.so\.[0-9]+\$")" '' \
    'needs only the C library'

is "$(names undefined | tr ' ' '\n' | grep -E 'slurm|spank' | paste -sd' ')" \
    "slurm_error slurm_info slurm_spank_log spank_context spank_get_item spank_option_register \
spank_setenv spank_unsetenv" 'uses only functions of Slurm that every release since 20.11 has'

like "$(readelf -d "$plugin")" 'BIND_NOW|NOW' 'resolves its symbols when it is loaded'
like "$(readelf -lW "$plugin")" 'GNU_RELRO' '... in memory that is read-only afterwards'
unlike "$(readelf -lW "$plugin" | grep GNU_STACK)" 'RWE' 'has no executable stack'

done_testing
