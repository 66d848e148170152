package io.mintmark.console.pages.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.console.pages.frame.Frame;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class LeftCredentialTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    ended      | clean     | ended
                    ending     | attention | is being ended
                    revoked    | clean     | is revoked: servers that fetch the revocation list refuse it
                    lasts      | attention | ends by itself in 10 minutes
                    cannot_end | attention | cannot be ended early, ends by itself in 10 minutes
                    """)
    void each_credential_says_what_becomes_of_it(String state, String colour, String words) {
        LeftCredential left = new LeftCredential("0199", "ssh", state, NOW.plusSeconds(600));
        assertEquals(words, left.words(frame()));
        assertEquals(colour, left.colour());
    }

    private static Frame frame() {
        return new Frame(
                "",
                "requests",
                Optional.empty(),
                true,
                NOW,
                "",
                Optional.empty(),
                Map.of(),
                List.of());
    }
}
