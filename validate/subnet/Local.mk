# SPDX-License-Identifier: Apache-2.0

# The network as its switches know it: read, judged, written as topology.conf.
noinst_LTLIBRARIES += validate/subnet/libsubnet.la
validate_subnet_libsubnet_la_SOURCES = \
	validate/subnet/conf_sense.c \
	validate/subnet/discover.c \
	validate/subnet/findings.c validate/subnet/findings.h \
	validate/subnet/groups.c \
	validate/subnet/lldp.c \
	validate/subnet/mesh.c \
	validate/subnet/outline.c validate/subnet/outline.h \
	validate/subnet/places.c \
	validate/subnet/pods.c \
	validate/subnet/presence.c \
	validate/subnet/rates.c \
	validate/subnet/subnet.c validate/subnet/subnet.h \
	validate/subnet/subnet_finish.c \
	validate/subnet/subnet_text.c \
	validate/subnet/tier.c validate/subnet/tier.h \
	validate/subnet/topologyconf.c validate/subnet/topologyconf.h \
	validate/subnet/topologyyaml.c \
	validate/subnet/uplinks.c \
	validate/subnet/upper.c \
	# end of validate_subnet_libsubnet_la_SOURCES
validate_subnet_libsubnet_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBNETDISC_CFLAGS) $(JANSSON_CFLAGS) $(YAML_CFLAGS)
validate_subnet_libsubnet_la_LIBADD = lib/libmuster.la $(IBNETDISC_LIBS) $(JANSSON_LIBS) $(YAML_LIBS)
