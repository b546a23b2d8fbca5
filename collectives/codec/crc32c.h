/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CRC32C_H
#define MUSTER_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli; RFC 3720, section 12.1) of length bytes after those whose value is crc; 0 to
 * begin with. crc32c() takes the fastest of those below; crc32c_sse42() uses the instruction of SSE
 * 4.2 with that of carry-less multiplication and may be called only where the machine has both. */
uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t length);
uint32_t crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t length);
#ifdef __x86_64__
uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes, size_t length);
#endif

#endif
