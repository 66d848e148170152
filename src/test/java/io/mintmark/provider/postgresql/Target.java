package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker.Left;
import io.mintmark.provider.LeaseRevoker.NotListed;
import io.mintmark.provider.LeaseRevoker.Place;
import io.mintmark.provider.LeaseRevoker.RevocationOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.Orders;
import io.mintmark.provider.SettingSecrets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** The type {@code postgresql} at a server of a tenant's, as the broker uses it. */
final class Target {
    static final String ISSUER = "https://broker.example";
    private static final String KEY = "{'role': 'app_rw'}";

    private final int port;
    private final PostgresProvider type;

    Target(int port, Path secrets) {
        this(port, secrets, InstantSource.system());
    }

    Target(int port, Path secrets, InstantSource clock) {
        this.port = port;
        this.type =
                new PostgresProvider(
                        ISSUER,
                        new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                        new Destinations(List.of("127.0.0.1")),
                        clock,
                        new Random(port));
        write(secrets.resolve("acme").resolve("password"), TargetServer.BROKER_PASSWORD);
    }

    static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    PostgresProvider type() {
        return type;
    }

    String settings() {
        return "{'host': '127.0.0.1:%d', 'database': 'postgres', 'login': 'mintmark', 'password': {'file': 'password'}}"
                .formatted(port);
    }

    Orders key(String settings) {
        return Orders.of("postgresql", settings(), settings);
    }

    MintResult mint(String keySettings) {
        return key(keySettings).mint(type);
    }

    Login login() {
        return login(KEY);
    }

    Login login(String keySettings) {
        return new Login(assertInstanceOf(Minted.class, mint(keySettings)));
    }

    Login login(Orders orders) {
        return new Login(assertInstanceOf(Minted.class, orders.mint(type)));
    }

    static Failed failed(MintResult result) {
        return assertInstanceOf(Failed.class, result);
    }

    Place place(Duration timeout) {
        return new Place(
                new TenantName("acme"),
                new ProviderName("cloud"),
                json(settings()),
                Orders.now().plus(timeout));
    }

    private static JsonNode json(String text) {
        return Orders.json(text);
    }

    LeaseRevocation end(MintId mint) {
        return type.revoker()
                .orElseThrow()
                .revoke(new RevocationOrder(place(Duration.ofSeconds(20)), mint));
    }

    LeaseRevocation end() {
        return end(Orders.MINT_ID);
    }

    /** The expired mints. */
    List<MintId> leftBehind() throws NotListed {
        return type.revoker().orElseThrow().leftBehind(place(Duration.ofSeconds(10))).stream()
                .filter(Left::over)
                .map(Left::mint)
                .toList();
    }

    /** A minted login. */
    final class Login {
        private final Minted minted;

        private Login(Minted minted) {
            this.minted = minted;
        }

        Minted minted() {
            return minted;
        }

        String field(String name) {
            return java.util.Objects.requireNonNull(minted.fields().get(name)).reveal();
        }

        String name() {
            return field("Username");
        }

        Connection connect() throws SQLException {
            return connect("postgres");
        }

        Connection connect(String database) throws SQLException {
            java.util.Properties properties = new java.util.Properties();
            properties.setProperty("user", name());
            properties.setProperty("password", field("Password"));
            return java.sql.DriverManager.getConnection(
                    "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database), properties);
        }

        void run(String sql) throws SQLException {
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }
}
