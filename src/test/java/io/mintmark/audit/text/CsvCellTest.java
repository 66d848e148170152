package io.mintmark.audit.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No text of the log is run by the program that shows the file. */
class CsvCellTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "=1+1",
                "+1",
                "-1",
                "@SUM(1)",
                "\uFF1D1+1",
                "\uFF0B1",
                "\uFF0D1",
                "\uFF20SUM(1)",
                "\uFE661",
                " =1",
                "\u00A0=1",
                "\u3000\uFF1D1",
                "\u200B=1",
                "\uFEFF=1",
                "\u202E=1",
                "\u2028=1",
                "\uFE0F=1",
                "\u0000 \u200B\uFF1D1",
                "\tx",
                "\rx",
                "\nx"
            })
    void what_could_be_run_as_a_formula_gets_a_quote_in_front(String text) {
        assertEquals("\"'" + text + "\"", CsvCell.of(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\u200B",
                "repo:acme/shop:ref:refs/heads/main",
                "a=b",
                "1-2",
                "\u4E2D\uFF1D",
                "system:serviceaccount:shop:checkout@acme",
                "'=1"
            })
    void any_other_text_stays_as_it_is(String text) {
        assertEquals("\"" + text + "\"", CsvCell.of(text));
    }
}
