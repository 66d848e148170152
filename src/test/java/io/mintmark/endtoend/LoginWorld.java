package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.provider.postgresql.TargetServer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A broker whose key {@code orders-login} gives logins to a real server of PostgreSQL. */
public final class LoginWorld implements AutoCloseable {
    /** A login's life. */
    public static final Duration LIFE = Duration.ofMinutes(10);

    private final TargetServer target =
            TargetServer.start(TargetServer.NEWEST, Map.of(), TargetServer.HBA);
    private final World broker;

    /** With a directory for its secrets. */
    public LoginWorld(Path directory) {
        Path secrets = directory.resolve("secrets");
        Path password = secrets.resolve("acme").resolve("password");
        Unchecked.run(() -> {
            Files.createDirectories(password.getParent());
            Files.writeString(password, TargetServer.BROKER_PASSWORD);
        });
        this.broker = new World(Map.of("SECRETS_DIR", secrets.toString()));
        broker.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'db', 'postgresql',
                        '{"host": "127.0.0.1:%d", "database": "postgres", "login": "mintmark", "password": {"file": "password"}}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'orders-login', 'db', %d, '{"role": "app_rw"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', '%s', 'orders-login');
                """
                        .formatted(target.port(), LIFE.toSeconds(), World.SUBJECT));
        Eventually.holds(
                () -> broker.broker().keys(broker.token()).toString().contains("orders-login"));
    }

    public World broker() {
        return broker;
    }

    public TargetServer target() {
        return target;
    }

    public String jdbcUrl() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(target.port());
    }

    /** The logins that the server has. */
    public List<String> logins() {
        return target.column("SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'mm_')");
    }

    /** Returns when the broker has ended all logins of now, as it does at their end. */
    public void endOfLogins() {
        List<String> ending = logins();
        broker.database().runAsSuperuser("UPDATE runtime.ending SET due = now(), next_try = now()");
        Eventually.holds(() -> Collections.disjoint(ending, logins()));
    }

    @Override
    public void close() {
        broker.close();
        target.close();
    }
}
