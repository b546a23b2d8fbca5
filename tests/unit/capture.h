/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_CAPTURE_H
#define MUSTER_TESTS_CAPTURE_H

/* Standard output and standard error go to files from capture_begin() on, to where they went before
 * after capture_end(). That returns what went to one of them (1, 2), until the next call. */
void capture_begin(void);
const char *capture_end(int fd);

#endif
