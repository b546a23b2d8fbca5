# SPDX-License-Identifier: Apache-2.0

# The network as its switches know it: read, judged, written as topology.conf.
if BUILD_MUSTER
noinst_LIBRARIES += validate/subnet/libsubnet.a
libsubnet = validate/subnet/libsubnet.a lib/libmuster.a $(IBNETDISC_LIBS) $(JANSSON_LIBS) $(YAML_LIBS)
validate_subnet_libsubnet_a_SOURCES = \
	validate/subnet/finish.c \
	validate/subnet/outline.c validate/subnet/outline.h \
	validate/subnet/subnet.c validate/subnet/subnet.h \
	# end of the subnet

# where it is read
validate_subnet_libsubnet_a_SOURCES += \
	validate/subnet/sources/discover.c \
	validate/subnet/sources/lldp.c \
	validate/subnet/sources/text.c \
	# end of sources

# what topology.conf states
validate_subnet_libsubnet_a_SOURCES += \
	validate/subnet/expected/topologyconf.c validate/subnet/expected/topologyconf.h \
	validate/subnet/expected/topologyyaml.c \
	# end of stated

# what is wrong with it
validate_subnet_libsubnet_a_SOURCES += \
	validate/subnet/findings/conf_check.c \
	validate/subnet/findings/findings.c validate/subnet/findings/findings.h \
	validate/subnet/findings/groups.c \
	validate/subnet/findings/mesh.c \
	validate/subnet/findings/places.c \
	validate/subnet/findings/pods.c \
	validate/subnet/findings/presence.c \
	validate/subnet/findings/rates.c \
	validate/subnet/findings/tier.c validate/subnet/findings/tier.h \
	validate/subnet/findings/uplinks.c \
	validate/subnet/findings/upper.c \
	# end of findings
validate_subnet_libsubnet_a_CPPFLAGS = $(AM_CPPFLAGS) $(IBNETDISC_CFLAGS) $(JANSSON_CFLAGS) $(YAML_CFLAGS)
endif BUILD_MUSTER
