package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.ContainerCredentialsProvider;
import software.amazon.awssdk.core.SdkSystemSetting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The AWS SDK for Java, which knows nothing of the broker but an address and a file. */
class AwsSdkForJavaTest {
    private static final String ADDRESS =
            SdkSystemSetting.AWS_CONTAINER_CREDENTIALS_FULL_URI.property();
    private static final String FILE =
            SdkSystemSetting.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE.property();

    @TempDir static Path directory;
    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'brief', 'aws', 900, '{"role_arn": "%s"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'brief');
                """
                        .formatted(World.ROLE));
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 3);
    }

    @AfterEach
    void forget() {
        System.clearProperty(ADDRESS);
        System.clearProperty(FILE);
        world.sts().always(new StsAnswer.AsAsked());
    }

    private static ContainerCredentialsProvider provider(String key, String token)
            throws IOException {
        Path file = Files.writeString(directory.resolve("token"), token);
        System.setProperty(ADDRESS, world.broker().url() + "/sdk/aws/" + key);
        System.setProperty(FILE, file.toString());
        return ContainerCredentialsProvider.create();
    }

    private static int mints(String key) {
        return world.column("SELECT mint_id FROM audit.mint WHERE key = '" + key + "'").size();
    }

    private static void assertSays(String words, ContainerCredentialsProvider provider) {
        RuntimeException refused =
                assertThrows(RuntimeException.class, provider::resolveCredentials);
        String trace =
                Stream.iterate((Throwable) refused, Objects::nonNull, Throwable::getCause)
                        .map(Throwable::getMessage)
                        .collect(Collectors.joining("; "));
        assertTrue(trace.contains(words), trace);
    }

    @Test
    void it_gets_credentials_and_keeps_them_as_long_as_they_are_good() throws IOException {
        int before = mints("deploy");
        try (ContainerCredentialsProvider provider = provider("deploy", world.token())) {
            AwsCredentials first = provider.resolveCredentials();
            assertTrue(first.accessKeyId().startsWith("ASIA"));
            assertTrue(
                    first instanceof AwsSessionCredentials session
                            && !session.sessionToken().isEmpty());
            assertTrue(first.expirationTime().isPresent());
            assertEquals(first, provider.resolveCredentials());
        }
        assertEquals(before + 1, mints("deploy"));
        world.assertRows(
                "SELECT DISTINCT (user_agent LIKE 'aws-sdk-java/%')::text FROM audit.event"
                        + " WHERE key = 'deploy'",
                "true");
    }

    @Test
    void it_refreshes_before_the_end_without_a_restart_with_the_token_that_is_there_by_then()
            throws IOException {
        world.sts().next(new StsAnswer.Longer(Duration.ofSeconds(65 - 900)));
        try (ContainerCredentialsProvider provider = provider("brief", world.token())) {
            String first = provider.resolveCredentials().accessKeyId();
            Files.writeString(directory.resolve("token"), world.token());
            Eventually.holds(() -> !provider.resolveCredentials().accessKeyId().equals(first));
        }
        world.assertRows(
                "SELECT count(DISTINCT token_hash) FROM audit.event WHERE key = 'brief'"
                        + " AND kind = 'issued'",
                "2");
    }

    @Test
    void its_user_sees_the_brokers_words() throws IOException {
        try (ContainerCredentialsProvider provider = provider("spare", world.token())) {
            assertSays("Subject 'ci:main' has no active grant for key 'spare'", provider);
        }
        assertEquals(1, world.column("SELECT mint_id FROM audit.event WHERE key = 'spare'").size());
    }

    @Test
    void what_a_provider_does_not_permit_is_asked_once() throws IOException {
        int before = mints("deploy");
        world.sts().always(new StsAnswer.Refusing(403, "AccessDenied", "no"));
        try (ContainerCredentialsProvider provider = provider("deploy", world.token())) {
            assertSays("an admin must check what the key names", provider);
        }
        assertEquals(before + 1, mints("deploy"));
    }

    @Test
    void what_may_pass_is_repeated_until_it_has() throws IOException {
        int before = mints("deploy");
        world.sts().next(new StsAnswer.Saying(200, "<html>"), new StsAnswer.Saying(200, "<html>"));
        try (ContainerCredentialsProvider provider = provider("deploy", world.token())) {
            assertTrue(provider.resolveCredentials().accessKeyId().startsWith("ASIA"));
        }
        assertEquals(before + 3, mints("deploy"));
    }
}
