/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"

#include <string.h>

#include "tests/unit/tap.h"

int main(void)
{
    char text[24];

    is_str(text_put(text, sizeof text, "%d of %d", 3, 8), "3 of 8",
           "a text that fits is unchanged");
    is_str(text_put(text, sizeof text, "twenty three characters"), "twenty three characters",
           "... to the last byte");
    is_str(text_put(text, sizeof text, "twenty four characters, no"), "twenty four...",
           "a text that does not fit ends after a word");
    is_str(text_put(text, sizeof text, "one, two, three; four and five"), "one, two, three...",
           "... without its comma");
    is_str(text_put(text, sizeof text, "/a/very/long/path/that/has/no/blank"),
           "/a/very/long/path/th...", "a single long word is cut inside");
    is_str(text_put(text, sizeof text, "aaaaaaaaaaaaaaaaaaa\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"),
           "aaaaaaaaaaaaaaaaaaa...", "... but not inside a UTF-8 character");

    *text = '\0';
    is_int(text_join(text, sizeof text, ", ", "%s", "mlx5_0"), 0, "the first item of a list fits");
    is_int(text_join(text, sizeof text, ", ", "%s:%d", "mlx5_1", 2), 0, "... and the second");
    is_str(text, "mlx5_0, mlx5_1:2", "... with the separator between them");
    is_int(text_join(text, sizeof text, ", ", "%s", "mlx5_2"), -1, "an item that does not fit");
    is_str(text, "mlx5_0, mlx5_1:2, mlx5_", "... is cut");
    is_int(text_join(text, sizeof text, ", ", "%s", "mlx5_3"), -1, "a further item");
    is_str(text, "mlx5_0, mlx5_1:2, mlx5_", "... adds nothing");

    strcpy(text, "caf\xc3\xa9\n\x7f~");
    text_make_ascii(text);
    is_str(text, "caf????~", "bytes that are not printable ASCII become '?'");

    is_str(text_after("a: 1\nab: 2\nb: 3", "ab: "), "2\nb: 3", "the text after a line's beginning");
    is_str(text_after("a: 1\nb: 3", "b: "), "3", "... also of the last line");
    ok(text_after("a: b: 3\n", "b: ") == NULL, "... but not if it is inside a line");
    ok(text_after("", "b: ") == NULL, "... and NULL for an empty text");

    ok(text_is_name("mlx5_0", "_", 7), "letters, digits and an underscore are a name");
    ok(!text_is_name("mlx5_0", "_", 6), "... but not if it is too long");
    ok(!text_is_name("mlx5_0:1", "_", 20), "... nor with any other character");
    ok(!text_is_name("", "_", 20), "... nor if it is empty");
    ok(!text_is_name("caf\xc3\xa9", "_", 20), "... nor with a letter that is not of ASCII");

    is_int(text_distance("DrainCap", "draincaps"), 1, "an added letter is a distance of 1");
    is_int(text_distance("kitten", "sitting"), 3, "... two changed letters and an added one of 3");
    is_int(text_distance("", "four"), 4, "... a whole word of as many as it has letters");
    return tap_done();
}
