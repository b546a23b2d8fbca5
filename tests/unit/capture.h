/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_CAPTURE_H
#define MUSTER_TESTS_CAPTURE_H

/* capture_begin() redirects standard output and standard error to temporary files. capture_end()
 * restores both and returns what was written to descriptor fd (1 or 2), "" if nothing; the text is
 * valid until the next call. */
void capture_begin(void);
const char *capture_end(int fd);

#endif
