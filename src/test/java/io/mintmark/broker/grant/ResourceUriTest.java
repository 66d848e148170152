package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Optional;

/** Equivalent URIs of resources, by the vectors that SQL has too. */
final class ResourceUriTest {

    @ParameterizedTest
    @CsvFileSource(resources = "/vectors/resources.tsv", delimiter = '\t', quoteCharacter = '\0')
    void equivalent_uris_have_one_normal_form(String text, String normal) {
        assertEquals(Optional.of(normal), ResourceUri.of(text).map(ResourceUri::normal));
        assertEquals(Optional.of(normal), ResourceUri.of(normal).map(ResourceUri::normal));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "orders",
                "/orders",
                "https:",
                "https://mcp.example.com/#x",
                "https://mcp example",
                "https://mcp.example.com/%4",
                "https://mcp.example.\u212Aom/",
                "https://mcp.example.com/\n"
            })
    void other_texts_are_none(String text) {
        assertEquals(Optional.empty(), ResourceUri.of(text));
    }

    @Test
    void at_most_512_characters() {
        String longest = "https://mcp.example.com/" + "a".repeat(512 - 24);
        assertEquals(longest, ResourceUri.of(longest).orElseThrow().text());
        assertEquals(Optional.empty(), ResourceUri.of(longest + "a"));
    }
}
