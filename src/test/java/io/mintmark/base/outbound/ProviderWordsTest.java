package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProviderWordsTest {

    @Test
    void a_token_is_left_out() {
        assertEquals(
                "bad [token]: not 'eyes'",
                ProviderWords.fit("bad eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln: not 'eyes'"));
    }

    @Test
    void a_part_of_a_token_is_left_out() {
        assertEquals("bad [token]", ProviderWords.fit("bad eyJhbGciOiJub25lIn0"));
    }

    @Test
    void an_opaque_token_of_googles_is_left_out() {
        assertEquals(
                "bad [token] here, not ya29",
                ProviderWords.fit("bad ya29.c.b0_AX~x-1 here, not ya29"));
    }

    @Test
    void control_characters_and_line_breaks_become_spaces() {
        assertEquals("a b c", ProviderWords.fit("a\r\n\tb\u0000c\n"));
    }

    @Test
    void it_is_cut_after_500_characters() {
        assertEquals("x".repeat(500) + "…", ProviderWords.fit("x".repeat(501)));
    }
}
