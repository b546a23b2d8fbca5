# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_SUMMARY: what is on, what is off, and what would bring the missing.
AC_DEFUN([MUSTER_SUMMARY], [
    AM_COND_IF([BUILD_PLUGIN], [muster_plugin="on, into $slurmplugindir"], [muster_plugin=off])
    AM_COND_IF([BUILD_MUSTER], [muster_command=on], [muster_command=off])
    AM_COND_IF([BUILD_BATTERY], [muster_battery=on], [muster_battery=off])
    AM_COND_IF([BUILD_TRAINER], [muster_trainer=on], [muster_trainer=off])
    AC_MSG_NOTICE([

muster $VERSION
  plugin spank_muster.so        $muster_plugin
  command muster                $muster_command
  battery (MPI programs)        $muster_battery
  trainer muster-train          $muster_trainer
  bf16 in it, by oneDNN         $muster_have_dnnl
  libibverbs                    $muster_have_ibverbs
  libibnetdisc                  $muster_have_ibnetdisc
  warnings are errors           $enable_werror
  sanitizers                    $enable_sanitize
  coverage                      $enable_coverage
  configuration file            $sysconfdir/muster/muster.conf
  state                         $localstatedir/lib/muster
])
    AS_IF([test -n "$muster_missing"], [AC_MSG_NOTICE([missing:$muster_missing
])])
])
