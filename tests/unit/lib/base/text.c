/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"

#include "tests/unit/tap.h"

int main(void)
{
    char text[24];

    is_str(text_put(text, sizeof text, "%d of %d", 3, 8), "3 of 8", "what fits is as it is");
    is_str(text_put(text, sizeof text, "twenty three characters"), "twenty three characters",
           "... to the last byte");
    is_str(text_put(text, sizeof text, "twenty four characters, no"), "twenty four...",
           "what does not ends after a word");
    is_str(text_put(text, sizeof text, "one, two, three; four and five"), "one, two, three...",
           "... without its comma");
    is_str(text_put(text, sizeof text, "/a/very/long/path/that/has/no/blank"),
           "/a/very/long/path/th...", "one long word is cut all the same");
    is_str(text_put(text, sizeof text, "aaaaaaaaaaaaaaaaaaa\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"),
           "aaaaaaaaaaaaaaaaaaa...", "... but not inside a character");
    text[0] = '\0';
    text_join(text, sizeof text, ", ", "%d", 1);
    is_str(text, "1", "the first of a list has no separator");
    text_join(text, sizeof text, ", ", "%s", "two");
    is_str(text, "1, two", "... the next one has");
    text_join(text, sizeof text, ", ", "%s", "threeeeeeeeeeeeeeee");
    is_str(text, "1, two, threeeeeeeeeeee", "... what does not fit is cut");
    text_join(text, sizeof text, ", ", "%s", "four");
    is_str(text, "1, two, threeeeeeeeeeee", "... and nothing comes behind it");
    return tap_done();
}
