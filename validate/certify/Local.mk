# SPDX-License-Identifier: Apache-2.0

# `muster certify`: choose nodes, run the battery on them, judge, act. A part of the command.
muster_SOURCES += \
	validate/certify/certify.c validate/certify/certify.h \
	validate/certify/alike.c \
	validate/certify/certificates.c \
	validate/certify/request.c validate/certify/request.h \
	validate/certify/campaign.c validate/certify/campaign.h \
	validate/certify/group.c validate/certify/group.h \
	validate/certify/retest.c \
	validate/certify/budget.c validate/certify/budget.h \
	validate/certify/estimate.c \
	validate/certify/outcome.c validate/certify/outcome.h \
	validate/certify/options.c \
	validate/certify/others.c \
	validate/certify/allocate.c \
	validate/certify/neighbours.c \
	validate/certify/nodes.c \
	validate/certify/stages.c \
	validate/certify/step.c \
	validate/certify/subnet.c \
	validate/certify/config.c \
	validate/certify/links/links.c \
	validate/certify/links/findings.c \
	validate/certify/links/hints.c validate/certify/links/hints.h \
	validate/certify/links/losses.c \
	validate/certify/links/sums.c \
	validate/certify/rails.c \
	validate/certify/actions.c \
	validate/certify/extras.c \
	validate/certify/facts.c \
	validate/certify/report.c \
	validate/certify/reports.c \
	validate/certify/suspects.c \
	validate/certify/turns.c \
	# end of certify
