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
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider;
import software.amazon.awssdk.core.SdkSystemSetting;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.StsException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The AWS SDK for Java, configured by the variables for web identity and an address for STS. It
 * drops the path of that address, so the broker has a host name of its own for STS here, as a
 * reverse proxy can provide it.
 */
class AwsSdkForJavaStsTest {
    private static final String ENDPOINT = "aws.endpointUrlSts";
    private static final String REGION = SdkSystemSetting.AWS_REGION.property();
    private static final String ROLE = SdkSystemSetting.AWS_ROLE_ARN.property();
    private static final String FILE = SdkSystemSetting.AWS_WEB_IDENTITY_TOKEN_FILE.property();

    @TempDir static Path directory;
    @AutoClose private static World world;
    @AutoClose private static StsHost host;

    @BeforeAll
    static void start() throws IOException {
        world = new World();
        host = new StsHost(world.broker().url());
    }

    @AfterEach
    void forget() {
        Stream.of(ENDPOINT, REGION, ROLE, FILE).forEach(System::clearProperty);
        world.sts().always(new StsAnswer.AsAsked());
    }

    /** What a pod of EKS's identity webhook has, and one more. */
    private static void configure(String role, String token) throws IOException {
        System.setProperty(ENDPOINT, host.url());
        System.setProperty(REGION, "eu-central-1");
        System.setProperty(ROLE, role);
        System.setProperty(FILE, Files.writeString(directory.resolve("token"), token).toString());
    }

    private static String messages(Throwable thrown) {
        return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause)
                .map(Throwable::getMessage)
                .collect(Collectors.joining("; "));
    }

    @Test
    void it_gets_credentials_by_its_default_chain() throws IOException {
        configure(World.ROLE, world.token());
        int before = world.audited("kind = 'issued'").size();
        try (DefaultCredentialsProvider provider = DefaultCredentialsProvider.builder().build()) {
            AwsCredentials credentials = provider.resolveCredentials();
            assertTrue(credentials.accessKeyId().startsWith("ASIA"));
            assertTrue(
                    credentials instanceof AwsSessionCredentials session
                            && !session.sessionToken().isEmpty());
            assertTrue(credentials.expirationTime().isPresent());
            assertEquals(credentials, provider.resolveCredentials());
        }
        assertEquals(before + 1, world.audited("kind = 'issued'").size());
    }

    @Test
    void its_user_sees_the_brokers_words() throws IOException {
        configure("arn:aws:iam::000000000000:role/spare", world.token());
        try (WebIdentityTokenFileCredentialsProvider provider =
                WebIdentityTokenFileCredentialsProvider.create()) {
            RuntimeException refused =
                    assertThrows(RuntimeException.class, provider::resolveCredentials);
            assertTrue(
                    messages(refused)
                            .contains("Subject 'ci:main' has no active grant for key 'spare'"),
                    messages(refused));
        }
        assertEquals(1, world.audited("key = 'spare'").size());
    }

    @Test
    void what_may_pass_is_repeated_until_it_has() throws IOException {
        configure(World.ROLE, world.token());
        world.sts().next(new StsAnswer.Saying(200, "<html>"), new StsAnswer.Saying(200, "<html>"));
        int before = world.audited("kind = 'requested'").size();
        try (WebIdentityTokenFileCredentialsProvider provider =
                WebIdentityTokenFileCredentialsProvider.create()) {
            assertTrue(provider.resolveCredentials().accessKeyId().startsWith("ASIA"));
        }
        assertEquals(before + 3, world.audited("kind = 'requested'").size());
    }

    @Test
    void a_signed_call_gets_the_sentence_that_says_what_to_unset() throws IOException {
        configure(World.ROLE, world.token());
        try (WebIdentityTokenFileCredentialsProvider provider =
                        WebIdentityTokenFileCredentialsProvider.create();
                StsClient sts =
                        StsClient.builder()
                                .credentialsProvider(
                                        StaticCredentialsProvider.create(
                                                provider.resolveCredentials()))
                                .build()) {
            StsException refused = assertThrows(StsException.class, sts::getCallerIdentity);
            assertEquals("InvalidAction", refused.awsErrorDetails().errorCode());
            assertTrue(messages(refused).contains("unset AWS_ENDPOINT_URL_STS"), messages(refused));
        }
    }
}
