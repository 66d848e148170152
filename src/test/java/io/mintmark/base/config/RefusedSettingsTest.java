package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class RefusedSettingsTest {
    @TempDir Path directory;

    @ParameterizedTest
    @CsvFileSource(resources = "/settings/refused.csv", delimiter = '|', quoteCharacter = '\f')
    void a_wrong_setting_is_named_in_one_line(String name, String text, String message)
            throws IOException {
        Environment environment = new Environment(directory).with(name, text);

        assertEquals(message, environment.refusal());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DATABASE_URL",
                "DATABASE_USERNAME",
                "BROKER_URL",
                "BROKER_SIGNING_KEYS_DIR",
                "AUDIT_SIGNING_KEY_FILE"
            })
    void a_required_setting_that_is_missing_or_blank_is_named(String name) throws IOException {
        String missing = new Environment(directory).without(name).refusal();
        String blank = new Environment(directory).with(name, " ").refusal();

        assertTrue(missing.startsWith(name + " is not set; it must be "), missing);
        assertEquals(missing, blank);
    }

    @Test
    void the_missing_audit_key_comes_with_the_line_that_makes_one() throws IOException {
        assertEquals(
                "AUDIT_SIGNING_KEY_FILE is not set; it must be a file that the broker can read,"
                        + " with a P-256 key: openssl genpkey -algorithm EC -pkeyopt"
                        + " ec_paramgen_curve:P-256 -out FILE",
                new Environment(directory).without("AUDIT_SIGNING_KEY_FILE").refusal());
    }

    @Test
    void a_key_of_notes_in_a_token_needs_the_token_and_no_file_beside_it() throws IOException {
        Environment environment =
                new Environment(directory).with("AUDIT_NOTE_KEY", "pkcs11:object=notes");
        assertEquals(
                "AUDIT_NOTE_KEY is set, but PKCS11_MODULE is not: set PKCS11_MODULE to the path"
                        + " of the PKCS#11 library",
                environment.refusal());

        String file = Files.createFile(directory.resolve("some-file")).toString();
        environment.with("PKCS11_MODULE", file).with("AUDIT_NOTE_KEY_FILE", file);
        assertEquals(
                "AUDIT_NOTE_KEY and AUDIT_NOTE_KEY_FILE are both set: remove one of them",
                environment.refusal());
    }

    @Test
    void nobody_may_migrate_without_an_owner_or_a_single_role() throws IOException {
        Environment environment = new Environment(directory).without("DATABASE_OWNER_USERNAME");

        assertEquals(
                "DATABASE_OWNER_USERNAME is not set: set the login for migrations, or run the"
                        + " subcommand migrate with it and set DATABASE_MIGRATE=false, or use one login"
                        + " for everything with DATABASE_SINGLE_ROLE=true",
                environment.refusal());
    }

    @Test
    void an_owners_password_needs_an_owner() throws IOException {
        Environment environment =
                new Environment(directory)
                        .without("DATABASE_OWNER_USERNAME")
                        .with("DATABASE_OWNER_PASSWORD", "hunter2");

        assertEquals(
                "DATABASE_OWNER_PASSWORD is set without DATABASE_OWNER_USERNAME: set the login"
                        + " that the password belongs to",
                environment.refusal());
    }

    @Test
    void a_text_of_several_lines_is_echoed_on_one() throws IOException {
        Environment environment =
                new Environment(directory).with("LOG_FORMAT", "json\n" + "x".repeat(200));

        assertEquals(
                "LOG_FORMAT must be json or text, not 'json?" + "x".repeat(115) + "…'",
                environment.refusal());
    }
}
