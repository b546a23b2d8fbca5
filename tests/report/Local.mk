# SPDX-License-Identifier: Apache-2.0

# Tools for tests of reports: runs of nodes that do not exist, and a browser that opens the page.
EXTRA_DIST += \
	tests/report/page-test.py \
	tests/report/synthetic-run \
	tests/report/webdriver.py \
	# end of EXTRA_DIST
