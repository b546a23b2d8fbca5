/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CRC32C_H
#define MUSTER_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32C (Castagnoli; RFC 3720, section 12.1) of length bytes that follow bytes with
 * the CRC `crc`; 0 to begin with. crc32c() uses the fastest function below. crc32c_sse42() uses the
 * instruction of SSE 4.2 and carry-less multiplication, and may be called only on machines that
 * have both. crc32c_vectors() multiplies vectors of 64 bytes, and needs crc32c_has_vectors(). */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);
uint32_t crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t length);
#ifdef __x86_64__
uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes, size_t length);
uint32_t crc32c_vectors(uint32_t crc, const uint8_t *bytes, size_t length);
bool crc32c_has_vectors(void);
#endif

#endif
