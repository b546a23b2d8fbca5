# SPDX-License-Identifier: Apache-2.0

# What tests of reports need: runs of nodes that do not exist, and a browser to look at the page.
EXTRA_DIST += \
	tests/report/page-test.py \
	tests/report/synthetic-run \
	tests/report/webdriver.py \
	# end of EXTRA_DIST
