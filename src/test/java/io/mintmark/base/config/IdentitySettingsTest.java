package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.config.IdentitySettings.BuiltIn;
import io.mintmark.base.config.IdentitySettings.ClientCredentials;
import io.mintmark.base.config.IdentitySettings.TokenFile;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

class IdentitySettingsTest {
    @TempDir Path directory;
    private Environment environment;

    @BeforeEach
    void anIdentityFromElsewhere() throws IOException {
        environment =
                new Environment(directory)
                        .without("BROKER_URL")
                        .without("BROKER_SIGNING_KEYS_DIR")
                        .with("BROKER_IDP_TYPE", "client-credentials")
                        .with("BROKER_IDP_ISSUER", "https://idp.example.com/")
                        .with("BROKER_IDP_CLIENT_ID", "mintmark")
                        .with("BROKER_IDP_CLIENT_SECRET", "hunter2");
    }

    @Test
    void the_broker_is_its_own_issuer_unless_told_otherwise() throws IOException {
        assertEquals(new BuiltIn(), new Environment(directory).settings().broker().identity());
    }

    @Test
    void a_client_needs_no_signing_keys_and_no_address_of_its_own() {
        BrokerSettings broker = environment.settings().broker();

        assertEquals(
                new BrokerSettings(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        new ClientCredentials(
                                Optional.of(URI.create("https://idp.example.com/")),
                                Optional.empty(),
                                "mintmark",
                                ClientAuth.SECRET_BASIC,
                                Optional.of(new Password("hunter2")),
                                Optional.empty(),
                                Optional.empty()),
                        Optional.empty()),
                broker);
        assertFalse(broker.toString().contains("hunter2"), broker::toString);
    }

    @Test
    void a_token_file_needs_nothing_else() throws IOException {
        Path file = directory.resolve("audit.pem");
        BrokerSettings broker =
                new Environment(directory)
                        .without("BROKER_URL")
                        .without("BROKER_SIGNING_KEYS_DIR")
                        .with("BROKER_IDP_TYPE", "token-file")
                        .with("BROKER_IDP_TOKEN_FILE", file.toString())
                        .settings()
                        .broker();

        assertEquals(new TokenFile(file), broker.identity());
    }

    @Test
    void signing_keys_besides_it_need_the_brokers_address() {
        environment.with("BROKER_SIGNING_KEYS_DIR", directory.toString());

        assertEquals(
                "BROKER_URL is not set; it must be an https URL such as"
                        + " https://broker.example.com, without a user name, query or fragment (http only on"
                        + " localhost)",
                environment.refusal());
    }

    @Test
    void assertions_need_signing_keys_and_no_secret() {
        environment.with("BROKER_IDP_CLIENT_AUTH", "private_key_jwt");
        assertEquals(
                "BROKER_IDP_CLIENT_SECRET is set, but BROKER_IDP_CLIENT_AUTH private_key_jwt"
                        + " doesn't use it: remove one of them",
                environment.refusal());

        environment
                .without("BROKER_IDP_CLIENT_SECRET")
                .with("BROKER_URL", "https://broker.example.com");
        assertEquals(
                "BROKER_SIGNING_KEYS_DIR is not set; it must be a directory that the broker can"
                        + " read, with at least one key: openssl genpkey -algorithm EC -pkeyopt"
                        + " ec_paramgen_curve:P-256 -out DIRECTORY/2026-01-31.pem",
                environment.refusal());
    }

    @Test
    void what_is_missing_is_named() {
        environment.without("BROKER_IDP_CLIENT_SECRET");
        assertEquals(
                "BROKER_IDP_CLIENT_SECRET is not set: set it or BROKER_IDP_CLIENT_SECRET_FILE, or"
                        + " BROKER_IDP_CLIENT_AUTH to private_key_jwt",
                environment.refusal());

        environment.without("BROKER_IDP_ISSUER").with("BROKER_IDP_CLIENT_SECRET", "hunter2");
        assertEquals(
                "neither BROKER_IDP_TOKEN_ENDPOINT nor BROKER_IDP_ISSUER is set: set one of "
                        + "them; the issuer's discovery document names the endpoint",
                environment.refusal());

        environment.without("BROKER_IDP_CLIENT_ID");
        assertEquals(
                "BROKER_IDP_CLIENT_ID is not set; it must be a string without spaces",
                environment.refusal());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    BROKER_IDP_TOKEN_FILE | /t | BROKER_IDP_TOKEN_FILE is set, but BROKER_IDP_TYPE client-credentials doesn't use it: remove it, or choose the type that uses it
                    BROKER_IDP_CLIENT_AUTH | client-secret-basic | BROKER_IDP_CLIENT_AUTH must be client_secret_basic or client_secret_post or private_key_jwt, not 'client-secret-basic'
                    BROKER_IDP_SCOPE | a  b | BROKER_IDP_SCOPE must be words with single spaces between them, not 'a  b'
                    BROKER_IDP_ISSUER | idp.example.com | BROKER_IDP_ISSUER must be an https URL such as https://idp.example.com/realms/main, without a user name, query or fragment
                    BROKER_IDP_ISSUER | https://idp.example.com/?a=b | BROKER_IDP_ISSUER must be an https URL such as https://idp.example.com/realms/main, without a user name, query or fragment
                    BROKER_IDP_ISSUER | http://idp.example.com | BROKER_IDP_ISSUER uses plain http to idp.example.com, which exposes secrets: use https, or list the host in OUTBOUND_ALLOWED_HOSTS
                    BROKER_IDP_TOKEN_ENDPOINT | https://u:hunter2@idp.example.com/token | BROKER_IDP_TOKEN_ENDPOINT must be an https URL such as https://idp.example.com/token, without a user name or fragment
                    BROKER_IDP_TOKEN_ENDPOINT | http://x.localhost/token | BROKER_IDP_TOKEN_ENDPOINT uses plain http to x.localhost, which exposes secrets: use https, or list the host in OUTBOUND_ALLOWED_HOSTS
                    BROKER_IDP_TOKEN_ENDPOINT | http://10.1.2.3/token | BROKER_IDP_TOKEN_ENDPOINT uses plain http to 10.1.2.3, which exposes secrets: use https, or list the host in OUTBOUND_ALLOWED_HOSTS
                    """)
    void what_can_not_work_is_named(String name, String text, String message) {
        assertEquals(message, environment.with(name, text).refusal());
    }

    @ParameterizedTest
    @CsvSource({
        "http://127.0.0.1:8080/token,   other.internal",
        "http://idp.internal/token,     IDP.internal",
        "http://10.1.2.3/token,         10.0.0.0/8",
        "http://[fd00::1]/token,        fd00::/8",
        "https://idp.example/token?p=a, other.internal",
    })
    void plain_http_is_for_this_machine_and_listed_hosts(String endpoint, String allowed) {
        environment
                .with("BROKER_IDP_TOKEN_ENDPOINT", endpoint)
                .with("OUTBOUND_ALLOWED_HOSTS", allowed)
                .settings();
    }
}
