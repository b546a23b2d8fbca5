# SPDX-License-Identifier: Apache-2.0

# The plugin: libc only, and no symbol but those that Slurm looks up.
EXTRA_DIST += spank/spank_muster.lds
if BUILD_PLUGIN
slurmplugin_PROGRAMS = spank/spank_muster.so
spank_spank_muster_so_SOURCES = \
	spank/plugin.c \
	spank/host.c spank/host.h \
	spank/options.c spank/options.h \
	spank/suspects.c spank/suspects.h \
	spank/deadline.c spank/deadline.h \
	spank/local.c spank/local.h \
	spank/preflight.c spank/preflight.h \
	spank/preload.c spank/preload.h \
	spank/node.c spank/node.h \
	spank/step.c spank/step.h \
	spank/check.c spank/check.h \
	spank/prolog.c spank/prolog.h \
	spank/refusal.c spank/refusal.h \
	spank/netif.c spank/netif.h \
	spank/jobs.c spank/jobs.h \
	# end of spank_spank_muster_so_SOURCES
spank_spank_muster_so_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS) \
	-DMUSTER_LIBDIR='"$(libdir)"'
spank_spank_muster_so_LDFLAGS = $(AM_LDFLAGS) -shared \
	-Wl,--as-needed -Wl,--version-script=$(top_srcdir)/spank/spank_muster.lds
spank_spank_muster_so_LDADD = lib/libmuster.a
EXTRA_spank_spank_muster_so_DEPENDENCIES = spank/spank_muster.lds
endif
