package io.mintmark.base.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** An export must not end at a row that somebody wrote to end it. */
class ExportedRowTest {
    @Test
    void whatever_jsonb_holds_can_be_exported() {
        String number = "1" + "0".repeat(131_071);
        String deep = "[".repeat(5_000) + "]".repeat(5_000);
        String row = "{\"number\":%s,\"deep\":%s}".formatted(number, deep);
        assertEquals(row, ExportedRow.text(ExportedRow.parse(row)));
    }

    @Test
    void a_text_of_any_length_can_be_exported() {
        String text = "d".repeat(21_000_000);
        assertEquals(
                text, ExportedRow.parse("{\"detail\":\"" + text + "\"}").path("detail").asText());
    }
}
