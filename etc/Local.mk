# SPDX-License-Identifier: Apache-2.0

# Examples, installed as documents: `make install` leaves the site's configuration alone.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	etc/muster.conf \
	etc/plugstack.conf \
	# end of dist_examples_DATA
