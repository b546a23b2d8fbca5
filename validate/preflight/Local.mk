# SPDX-License-Identifier: Apache-2.0

# `muster preflight`: the battery's short form on the nodes of a job or step, by its user. A part of
# the command.
muster_SOURCES += \
	validate/preflight/preflight.c validate/preflight/preflight.h \
	validate/preflight/preflight_gpus.c \
	validate/preflight/preflight_run.c \
	validate/preflight/members.c \
	validate/preflight/suspect_report.c \
	validate/preflight/spares.c \
	# end of preflight
