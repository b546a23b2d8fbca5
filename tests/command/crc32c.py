# SPDX-License-Identifier: Apache-2.0
"""CRC-32C (Castagnoli) as RFC 3720 has it, slowly."""


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
