# SPDX-License-Identifier: Apache-2.0

# Unit tests: each a C program that speaks TAP, in the folder of its subject and named by the module
# it tests. One of a single file that needs libmuster alone is a row of its room's list.
check_LIBRARIES += tests/unit/libunit.a
tests_unit_libunit_a_SOURCES = tests/unit/capture.c tests/unit/capture.h tests/unit/failing_memory.h tests/unit/fake_clock.h \
	tests/unit/hung_mount.h tests/unit/interrupted_dump.h tests/unit/poor_memory.h tests/unit/tap.c tests/unit/tap.h tests/unit/tree.c tests/unit/tree.h
unit_libs = tests/unit/libunit.a lib/libmuster.a
LDADD = $(unit_libs)

include tests/unit/lib/Local.mk
include tests/unit/validate/Local.mk
include tests/unit/collectives/Local.mk
include tests/unit/trainer/Local.mk
