#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster conf prints the configuration, as a valid configuration file.
. "$(dirname "$0")/command.sh"
needs muster

cat >"$dir/site" <<'END'
managementinterface = eth0     # logins
NominalSpeed=eth[1-2]:200Mb/s,mlx5_[0-7]:400Gb/s
CertificateValidity=168h
GpuLibraryPath=/opt/cuda/lib64:/usr/local/lib/nvidia
END
"$muster" conf --config "$dir/site" >"$dir/printed"
is $? 0 'a good file'
like "$(cat "$dir/printed")" '^ManagementInterface=eth0$' 'a key in its spelling'
like "$(cat "$dir/printed")" '^NominalSpeed=eth\[1-2\]:200Mb/s,mlx5_\[0-7\]:400Gb/s$' 'a list'
like "$(cat "$dir/printed")" '^CertificateValidity=7d$' 'a time in its largest unit'
like "$(cat "$dir/printed")" '^GpuLibraryPath=/opt/cuda/lib64:/usr/local/lib/nvidia$' 'a list of directories'
like "$(cat "$dir/printed")" '^OnMissing=log$' 'a default'
like "$(cat "$dir/printed")" '^# Allowed: ignore, log, refuse\.$' 'allowed values'
is "$("$muster" conf --config "$dir/printed")" "$(cat "$dir/printed")" 'the output is read with the same result'
is "$(MUSTER_CONF=$dir/site "$muster" conf)" "$(cat "$dir/printed")" 'MUSTER_CONF names the file'
MUSTER_CONF=$dir/absent "$muster" conf --config "$dir/site" >"$dir/again"
is "$(cat "$dir/again")" "$(cat "$dir/printed")" 'the option takes precedence over MUSTER_CONF'

is "$("$muster" conf --check --config "$dir/site")" "$dir/site: good" 'a file is checked'
is "$("$muster" conf --help | head -1)" 'Usage: muster conf [OPTION...]' '--help'
is "$("$muster" conf 2>&1 >/dev/full)" 'muster: standard output: No space left on device' \
    'a full disk is reported'
done_testing
