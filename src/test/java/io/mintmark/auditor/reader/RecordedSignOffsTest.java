package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Optional;

/** Which changes of a request are sign-offs. */
class RecordedSignOffsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static Optional<String> finding(String before, String after)
            throws JsonProcessingException {
        RecordedChange change =
                new RecordedChange(
                        "acme",
                        7,
                        "access_request",
                        JSON.readTree(before),
                        JSON.readTree(after),
                        "lea",
                        Instant.EPOCH,
                        "1");
        return new RecordedSignOffs().add(change, new RecordedPeople());
    }

    @Test
    void a_column_that_was_added_is_no_sign_off() throws Exception {
        assertEquals(Optional.empty(), finding("{}", "{\"signed_off_by\": null}"));
    }

    @Test
    void a_sign_off_without_a_review_is_found() throws Exception {
        assertEquals(
                Optional.of(
                        "wrong_sign_off of request r of tenant acme at change 7: 'lea' did not review its grant"),
                finding("{\"id\": \"r\"}", "{\"id\": \"r\", \"signed_off_by\": \"lea\"}"));
    }
}
