# SPDX-License-Identifier: Apache-2.0

# `muster certify`: choose nodes, run the battery on them, judge, act. A part of the command.
muster_SOURCES += \
	validate/certify/certify.c validate/certify/certify.h \
	validate/certify/alike.c \
	validate/certify/budget.c validate/certify/budget.h \
	validate/certify/config.c \
	validate/certify/estimate.c \
	validate/certify/neighbours.c \
	validate/certify/options.c \
	validate/certify/outcome.c validate/certify/outcome.h \
	validate/certify/peers.c \
	validate/certify/rails.c \
	validate/certify/retest.c \
	validate/certify/stages.c \
	validate/certify/step.c \
	validate/certify/subnet.c \
	# end of certify

# which nodes, and their allocation
muster_SOURCES += \
	validate/certify/choose/allocate.c \
	validate/certify/choose/campaign.c validate/certify/choose/campaign.h \
	validate/certify/choose/group.c validate/certify/choose/group.h \
	validate/certify/choose/nodes.c \
	validate/certify/choose/others.c \
	validate/certify/choose/suspects.c \
	validate/certify/choose/turns.c \
	# end of choose

# what was measured of links becomes verdicts
muster_SOURCES += \
	validate/certify/links/findings.c \
	validate/certify/links/hints.c validate/certify/links/hints.h \
	validate/certify/links/links.c \
	validate/certify/links/losses.c \
	validate/certify/links/sums.c \
	# end of links

# drains, certificates, releases
muster_SOURCES += \
	validate/certify/settle/actions.c \
	validate/certify/settle/certificates.c \
	validate/certify/settle/extras.c \
	validate/certify/settle/request.c validate/certify/settle/request.h \
	# end of settle

# what people and reports are told
muster_SOURCES += \
	validate/certify/tell/facts.c \
	validate/certify/tell/report.c \
	validate/certify/tell/reports.c \
	# end of tell
