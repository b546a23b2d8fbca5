# SPDX-License-Identifier: Apache-2.0

# Examples, installed as documents: `make install` leaves the site's configuration alone.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	etc/grafana-dashboard.json \
	etc/muster.conf \
	etc/muster.rules.yml \
	etc/muster-certify.timer \
	etc/muster-certify-idle.timer \
	etc/muster-check.timer \
	etc/muster-train.sbatch \
	etc/plugstack.conf \
	etc/policy.conf \
	# end of dist_examples_DATA

# Those that name a program
examples_DATA = etc/muster-certify.service etc/muster-certify-idle.service etc/muster-check.service
CLEANFILES += $(examples_DATA) etc/muster-healthcheck
# The path that slurm.conf names.
pkglibexec_SCRIPTS = etc/muster-healthcheck
EXTRA_DIST += \
	etc/muster-certify.service.in \
	etc/muster-check.service.in \
	etc/muster-healthcheck.in \
	# end of the examples' EXTRA_DIST
substitute_bindir = $(AM_V_GEN)$(MKDIR_P) etc && $(SED) -e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@libexecdir[@]|$(libexecdir)|g' \
	-e 's|@localstatedir[@]|$(localstatedir)|g'

etc/muster-certify.service: etc/muster-certify.service.in Makefile
	$(substitute_bindir) $(srcdir)/etc/muster-certify.service.in >$@.new && mv $@.new $@
# The same sandbox for another command
etc/muster-certify-idle.service: etc/muster-certify.service
	$(AM_V_GEN)$(SED) -e '/^ExecStart=.* --suspects$$/d' -e '/^ExecStart=/s/ --due$$/ --idle/' \
		-e '/^# Certifies /,/^# For one /c# Certifies a few idle nodes; a job that wants one has it within IdleGrace. For one machine with\n# Slurm'"'s client commands, by muster-certify-idle.timer." \
		-e '/^Description=/s/ the nodes / idle nodes /' -e '/^Description=/s/ whose certificate is due$$//' \
		etc/muster-certify.service >$@.new && mv $@.new $@
etc/muster-check.service: etc/muster-check.service.in Makefile
	$(substitute_bindir) $(srcdir)/etc/muster-check.service.in >$@.new && mv $@.new $@
etc/muster-healthcheck: etc/muster-healthcheck.in Makefile
	$(substitute_bindir) $(srcdir)/etc/muster-healthcheck.in >$@.new && mv $@.new $@

# What others measure on known hardware.
dist_pkgdata_DATA = etc/reference.conf

# Completion by bash and zsh, which asks the programs for their options.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = etc/completion/muster
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = etc/completion/_muster
