package io.mintmark.console.pages.mints;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.base.verdict.MintRefusal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** No reason of a refusal or a failure leaves its reader without advice. */
class ReasonMeaningTest {
    @Test
    void every_reason_for_which_a_token_is_rejected_has_advice() throws IOException {
        List<String> without = new ArrayList<>();
        try (Stream<Path> vectors = Files.list(Path.of("src/test/resources/vectors/tokens"))) {
            for (Path vector : vectors.filter(file -> file.toString().endsWith("json")).toList()) {
                JsonNode json = new JsonMapper().readTree(Files.readString(vector));
                json.findValuesAsText("refused").stream()
                        .filter(reason -> ReasonMeaning.of(reason).isEmpty())
                        .forEach(without::add);
            }
        }
        assertEquals(List.of(), without);
    }

    @Test
    void every_reason_for_which_a_key_is_denied_has_advice() throws ReflectiveOperationException {
        List<String> without = new ArrayList<>();
        for (Field reason :
                Class.forName("io.mintmark.broker.exchange.Decision").getDeclaredFields()) {
            reason.setAccessible(true);
            if (reason.get(null) instanceof String word && ReasonMeaning.of(word).isEmpty()) {
                without.add(word);
            }
        }
        assertEquals(List.of(), without);
    }

    @ParameterizedTest
    @EnumSource(MintRefusal.Reason.class)
    void every_reason_for_which_a_mint_fails_has_advice(MintRefusal.Reason reason) {
        assertTrue(ReasonMeaning.of(reason.word()).isPresent());
    }
}
