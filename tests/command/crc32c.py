# SPDX-License-Identifier: Apache-2.0
"""CRC-32C (Castagnoli, RFC 3720), bit by bit."""


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
