# SPDX-License-Identifier: Apache-2.0

# Validates records against doc/records.md; other tests pipe records through it.
if BUILD_MUSTER
noinst_PROGRAMS += tests/record-check
tests_record_check_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_record_check_LDADD = lib/libmuster.a $(JANSSON_LIBS)

# Makes histories for tests that read them.
noinst_PROGRAMS += tests/history-add
tests_history_add_LDADD = $(libhistory) $(libreport) \
	lib/libmuster.a lib/libstatistics.a $(SQLITE_LIBS) $(JANSSON_LIBS)
endif

# Makes requests to RDMA ports fail, in a guest.
if HAVE_IBVERBS
noinst_PROGRAMS += tests/rdma/completions
tests_rdma_completions_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
tests_rdma_completions_LDADD = $(libverbs) $(libbattery) $(IBVERBS_LIBS)
endif HAVE_IBVERBS

EXTRA_DIST += tests/tap.sh tests/run tests/commit-subject tests/campaign/summary tests/campaign/results.jsonl \
	tests/campaign/mutants tests/campaign/mutants.jsonl tests/campaign/soak tests/campaign/soak.jsonl tests/campaign/restarts.jsonl \
	tests/campaign/watch.jsonl

# Stand-ins for libraries, each built from one file. NAME-old.so is an older version of the library,
# NAME-hip.so is AMD's counterpart.
stand_ins =
check_DATA = $(stand_ins)
CLEANFILES += $(stand_ins)
make_stand_in = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) \
	$(CFLAGS) -pthread $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@
stand_in_headers = $(srcdir)/tests/gpu/amd.h $(srcdir)/tests/gpu/handles.h $(srcdir)/tests/gpu/hip.h $(srcdir)/tests/gpu/state.h
%.so: %.c $(stand_in_headers)
	$(make_stand_in) $< -ldl
%-hip.so: %.c $(stand_in_headers)
	$(make_stand_in) -DSTAND_IN_HIP $< -ldl
%-hip-old.so: %.c $(stand_in_headers)
	$(make_stand_in) -DSTAND_IN_HIP -DSTAND_IN_OLD $< -ldl
%-old.so: %.c $(stand_in_headers)
	$(make_stand_in) -DSTAND_IN_OLD $< -ldl
