/* SPDX-License-Identifier: Apache-2.0 */
/* Published vectors: FIPS 180-4 (NIST's examples) and RFC 4231. */
#include "lib/base/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static const char *hex(const unsigned char digest[SHA256_BYTES])
{
    static char text[2 * SHA256_BYTES + 1];

    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static const char *sha256_of(const char *data, size_t size, size_t piece)
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 sha256;

    sha256_start(&sha256);
    for (size_t i = 0; i < size; i += piece)
        sha256_add(&sha256, data + i, size - i < piece ? size - i : piece);
    sha256_end(&sha256, digest);
    return hex(digest);
}

static const char *hmac_of(int key, size_t key_bytes, const char *message)
{
    unsigned char mac[SHA256_BYTES], keys[131];

    for (size_t i = 0; i < sizeof keys; i++)
        keys[i] = (unsigned char)(key < 0 ? i + 1 : (size_t)key);
    hmac_sha256(keys, key_bytes, message, strlen(message), mac);
    return hex(mac);
}

static void check_hmac(void)
{
    unsigned char mac[SHA256_BYTES];
    char fifty[51] = "";

    is_str(hmac_of(0x0b, 20, "Hi There"),
           "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", "RFC 4231, case 1");
    hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, mac);
    is_str(hex(mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "case 2");
    memset(fifty, 0xdd, 50);
    is_str(hmac_of(0xaa, 20, fifty),
           "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe", "case 3");
    memset(fifty, 0xcd, 50);
    is_str(hmac_of(-1, 25, fifty),
           "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b", "case 4");
    is_str(hmac_of(0xaa, 131, "Test Using Larger Than Block-Size Key - Hash Key First"),
           "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", "case 6");
    is_str(hmac_of(0xaa, 131,
                   "This is a test using a larger than block-size key and a larger than "
                   "block-size data. The key needs to be hashed before being used by the HMAC "
                   "algorithm."),
           "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2", "case 7");
}

int main(void)
{
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    unsigned char first[SHA256_BYTES] = {1}, second[SHA256_BYTES] = {1};
    char *million = malloc(1000000);

    is_str(sha256_of("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
           "an empty message");
    is_str(sha256_of("abc", 3, 3),
           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "one block");
    is_str(sha256_of(two, 56, 56),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "two blocks");
    is_str(sha256_of(two, 56, 5),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "... in pieces");
    if (million) {
        memset(million, 'a', 1000000);
        is_str(sha256_of(million, 1000000, 9973),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a million 'a'");
    }
    free(million);
    check_hmac();
    ok(sha256_equal(first, second), "two equal digests compare equal");
    second[31] ^= 1;
    ok(!sha256_equal(first, second), "... and two different ones do not");
    return tap_done();
}
