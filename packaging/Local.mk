# SPDX-License-Identifier: Apache-2.0

# The tarball carries the files that building packages takes, as the source tree does.
EXTRA_DIST += \
	packaging/build \
	packaging/install.t \
	packaging/debian/changelog \
	packaging/debian/conf/muster.conf \
	packaging/debian/conf/plugstack/muster.conf \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/libspank-muster.install \
	packaging/debian/muster-collectives.install \
	packaging/debian/muster-doc.install \
	packaging/debian/muster-trainer.install \
	packaging/debian/muster.install \
	packaging/debian/muster.postinst \
	packaging/debian/muster.postrm \
	packaging/debian/muster.preinst \
	packaging/debian/muster.prerm \
	packaging/debian/muster.sysusers \
	packaging/debian/muster.tmpfiles \
	packaging/debian/rules \
	packaging/debian/source/format \
	packaging/rpm/muster.spec \
	packaging/rpm/rpmlint.toml \
	# end
