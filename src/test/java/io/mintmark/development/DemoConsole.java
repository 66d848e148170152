package io.mintmark.development;

import com.nimbusds.jose.JOSEException;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.base.config.AuditSettings;
import io.mintmark.base.config.AuditSettings.OnLoss;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.SignInStandIn;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.console.wiring.Console;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.provider.types.CredentialTypes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The console as operators start it, at an identity provider that asks for no password. */
final class DemoConsole implements AutoCloseable {
    /** An audience of the demo tenant's second identity provider, whose tokens decide. */
    static final String CLIENT = "mintmark-console";

    private static final String SECRET = "for-trying-out";
    private static final int KEY_BYTES = 32;

    private static final List<Person> PEOPLE =
            List.of(
                    new Person(
                            "alice",
                            "platform admin",
                            Map.of("groups", List.of("platform-admins"))),
                    new Person(
                            "ben",
                            "the second platform admin",
                            Map.of("groups", List.of("platform-admins"))),
                    new Person("audrey", "auditor", Map.of("groups", List.of("auditors"))),
                    new Person(
                            "lea",
                            "leads the demo tenant",
                            Map.of("groups", List.of("demo-leads"))),
                    new Person("sam", "has no access", Map.of("groups", List.of("everybody"))));

    private final String url;
    private final Console console;

    private DemoConsole(String url, Console console) {
        this.url = url;
        this.console = console;
    }

    /**
     * Starts it.
     *
     * @param home where development mode keeps its files
     * @param brokerUrl where it sends decisions on requests
     */
    static DemoConsole start(
            Path home, DemoDatabase database, IssuerStandIn issuer, String brokerUrl)
            throws IOException {
        Map<String, String> given = System.getenv();
        String url = "http://localhost:" + given.getOrDefault("CONSOLE_PORT", "8082");
        Map<String, String> environment = new HashMap<>();
        environment.put("CONSOLE_HOST", "127.0.0.1");
        environment.put("BROKER_URL", brokerUrl);
        environment.putAll(given);
        environment.putAll(database.settingsOfConsole());
        environment.put("CONSOLE_URL", url);
        environment.put("CONSOLE_OIDC_ISSUER", issuer.url());
        environment.put("CONSOLE_OIDC_CLIENT_ID", CLIENT);
        environment.put("CONSOLE_OIDC_CLIENT_SECRET", SECRET);
        environment.put("CONSOLE_COOKIE_KEY_FILE", cookieKey(home).toString());
        environment.put("CONSOLE_AUDIT_KEYS_FILE", auditKey(home).toString());
        environment.put("OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1");
        environment.put("LOG_FORMAT", "text");
        new SignInStandIn(issuer, CLIENT, SECRET, url, PEOPLE);
        return new DemoConsole(
                url,
                new ConsoleStartup(
                                new SettingsReader(environment, home).console(),
                                CredentialTypes.byName(),
                                InstantSource.system())
                        .run());
    }

    private static Path cookieKey(Path home) throws IOException {
        Path file = home.resolve("cookie.key").toAbsolutePath();
        if (!Files.exists(file)) {
            byte[] key = new byte[KEY_BYTES];
            new SecureRandom().nextBytes(key);
            Files.writeString(file, Base64.getEncoder().encodeToString(key) + "\n");
        }
        return file;
    }

    /** The public half of what seals the log. */
    private static Path auditKey(Path home) throws IOException {
        try {
            byte[] key =
                    AuditKey.read(
                                    new AuditSettings(
                                            Optional.of(home.resolve("audit.pem")),
                                            List.of(),
                                            Optional.empty(),
                                            Optional.empty(),
                                            false,
                                            Optional.empty(),
                                            OnLoss.STOP),
                                    HeldKeys.none())
                            .published()
                            .getFirst()
                            .toECPublicKey()
                            .getEncoded();
            return Files.writeString(
                    home.resolve("audit.pub").toAbsolutePath(),
                    "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                            .formatted(Base64.getMimeEncoder().encodeToString(key)));
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    String url() {
        return url;
    }

    @Override
    public void close() {
        console.close();
    }
}
