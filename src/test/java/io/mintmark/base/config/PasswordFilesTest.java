package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

class PasswordFilesTest {
    @TempDir Path directory;

    private String file(String text) throws IOException {
        return Files.writeString(directory.resolve("password"), text).toString();
    }

    private Optional<String> password(String text) throws IOException {
        return new Environment(directory)
                .with("DATABASE_PASSWORD_FILE", file(text))
                .settings()
                .database()
                .login()
                .password()
                .map(Password::reveal);
    }

    @Test
    void one_line_end_is_dropped() throws IOException {
        assertEquals(Optional.of("hunter2"), password("hunter2"));
        assertEquals(Optional.of("hunter2"), password("hunter2\n"));
        assertEquals(Optional.of("hunter2"), password("hunter2\r\n"));
        assertEquals(Optional.of("hunter2\n"), password("hunter2\n\n"));
        assertEquals(Optional.of(" hunter 2 "), password(" hunter 2 \n"));
    }

    @Test
    void the_owners_password_and_the_clients_secret_may_stand_in_files_too() throws IOException {
        String file = file("hunter2\n");
        ServiceSettings settings =
                new Environment(directory)
                        .with("DATABASE_OWNER_PASSWORD_FILE", file)
                        .with("BROKER_IDP_TYPE", "client-credentials")
                        .with("BROKER_IDP_ISSUER", "https://idp.example.com")
                        .with("BROKER_IDP_CLIENT_ID", "mintmark")
                        .with("BROKER_IDP_CLIENT_SECRET_FILE", file)
                        .settings();

        assertEquals(
                Optional.of(new Password("hunter2")), settings.database().migrator().password());
        assertEquals(
                Optional.of(new Password("hunter2")),
                settings.broker().identity() instanceof IdentitySettings.ClientCredentials client
                        ? client.secret()
                        : Optional.empty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"DATABASE_PASSWORD", "DATABASE_OWNER_PASSWORD"})
    void both_forms_are_refused(String name) throws IOException {
        Environment environment =
                new Environment(directory)
                        .with(name, "hunter2")
                        .with(name + "_FILE", file("hunter2"));

        assertEquals(
                "%s and %s_FILE are both set: remove one of them".formatted(name, name),
                environment.refusal());
    }

    @Test
    void both_forms_of_a_clients_secret_are_refused() throws IOException {
        Environment environment =
                new Environment(directory)
                        .with("BROKER_IDP_TYPE", "client-credentials")
                        .with("BROKER_IDP_ISSUER", "https://idp.example.com")
                        .with("BROKER_IDP_CLIENT_ID", "mintmark")
                        .with("BROKER_IDP_CLIENT_SECRET", "hunter2")
                        .with("BROKER_IDP_CLIENT_SECRET_FILE", file("hunter2"));

        assertEquals(
                "BROKER_IDP_CLIENT_SECRET and BROKER_IDP_CLIENT_SECRET_FILE are both set: remove"
                        + " one of them",
                environment.refusal());
    }

    @Test
    void a_file_that_holds_no_password_is_named_and_not_quoted() throws IOException {
        Environment environment = new Environment(directory);

        assertEquals(
                "DATABASE_PASSWORD_FILE is an empty file: write the password into it",
                environment.with("DATABASE_PASSWORD_FILE", file("\n")).refusal());
        assertEquals(
                "DATABASE_PASSWORD_FILE names a file that is larger than 65536 bytes",
                environment.with("DATABASE_PASSWORD_FILE", file("x".repeat(70_000))).refusal());
        assertEquals(
                "DATABASE_PASSWORD_FILE must be a file that the broker can read, which holds the"
                        + " password and at most one trailing newline, not '/none'",
                environment.with("DATABASE_PASSWORD_FILE", "/none").refusal());
    }
}
