# SPDX-License-Identifier: Apache-2.0

# Manual pages with the paths of this configuration put in.
man_MANS =
dist_doc_DATA = doc/architecture.md doc/extending.md doc/attribution.md doc/codec-format.md doc/operations.md doc/performance.md doc/policy.md doc/proof.md doc/quickstart.md doc/records.md doc/security.md
# Schemas for programs. That of records is made from the page for people.
dist_doc_DATA += doc/certificate.schema.json doc/conf.schema.json
EXTRA_DIST += doc/records.awk
# the picture in README.md and its words, made by t2962
EXTRA_DIST += doc/report.png doc/report.txt
doc_DATA = doc/records.schema.json
CLEANFILES += doc/records.schema.json
doc/records.schema.json: doc/records.md doc/records.awk
	$(AM_V_GEN)$(MKDIR_P) doc && LC_ALL=C $(AWK) -f $(srcdir)/doc/records.awk $(srcdir)/doc/records.md >$@.new && mv $@.new $@

substitute_paths = $(SED) -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
	-e 's|@localstatedir[@]|$(localstatedir)|g' \
	-e 's|@datadir[@]|$(datadir)|g'

man_MANS += doc/muster.conf.5
EXTRA_DIST += doc/muster.conf.5.in
CLEANFILES += doc/muster.conf.5
doc/muster.conf.5: doc/muster.conf.5.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(substitute_paths) $(srcdir)/doc/muster.conf.5.in >$@.new && mv $@.new $@

man_MANS += doc/spank_muster.8
EXTRA_DIST += doc/spank_muster.8.in
CLEANFILES += doc/spank_muster.8
doc/spank_muster.8: doc/spank_muster.8.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(substitute_paths) $(srcdir)/doc/spank_muster.8.in >$@.new && mv $@.new $@

man_MANS += doc/muster.1
EXTRA_DIST += doc/muster.1.in
CLEANFILES += doc/muster.1
doc/muster.1: doc/muster.1.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(substitute_paths) $(srcdir)/doc/muster.1.in >$@.new && mv $@.new $@

dist_man_MANS += \
	doc/muster-certificate.1 \
	doc/muster-certify.1 \
	doc/muster-check.1 \
	doc/muster-compare.1 \
	doc/muster-conf.1 \
	doc/muster-doctor.1 \
	doc/muster-explain.1 \
	doc/muster-history.1 \
	doc/muster-interfaces.1 \
	doc/muster-inventory.1 \
	doc/muster-plan.1 \
	doc/muster-policy.1 \
	doc/muster-reference.1 \
	doc/muster-report.1 \
	doc/muster-reserve.1 \
	doc/muster-revoke.1 \
	doc/muster-run.1 \
	doc/muster-setup.1 \
	doc/muster-suspects.1 \
	doc/muster-top.1 \
	doc/muster-topology.1 \
	doc/muster-watch.1 \
	# end of the sub-commands' pages; that of muster preflight stands below

dist_man_MANS += \
	doc/muster-launch.1 \
	doc/muster-links.1 \
	doc/muster-collectives.1 \
	doc/muster-gpu.1 \
	doc/muster-host.1 \
	doc/muster-preflight.1 \
	doc/muster-train.1 \
	# end of the battery's manual pages

dist_man_MANS += doc/muster-codec.1
dist_man_MANS += doc/libmustercoll-pmpi.7

# From the catalog of fault codes, tests and metrics.
noinst_PROGRAMS += doc/codes
doc_codes_SOURCES = doc/codes.c
doc_codes_LDADD = lib/libmuster.a
man_MANS += doc/muster-codes.7
CLEANFILES += doc/muster-codes.7
doc/muster-codes.7: doc/codes$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && doc/codes$(EXEEXT) >$@.new && mv $@.new $@
