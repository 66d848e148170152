package io.mintmark.provider.postgresql;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.SqlRunner;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.embedded.PgBinaryResolver;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A PostgreSQL server of a tenant, in a version of its own. Roles other than the superuser need
 * their passwords. It logs all statements.
 */
public final class TargetServer implements SqlRunner, AutoCloseable {
    public static final int NEWEST = 18;
    public static final String BROKER_PASSWORD = "the broker's own password";

    /** What the build copies: postgres-16.jar and others. */
    private static final Path PROGRAMS = Path.of("target", "postgres");

    public static final String HBA =
            """
            host all postgres 127.0.0.1/32 trust
            hostssl all all 127.0.0.1/32 scram-sha-256
            hostnossl all all 127.0.0.1/32 scram-sha-256
            """;

    /** Once for each server: what docs/providers/postgresql.md asks for. */
    private static final String ROLES =
            """
            CREATE ROLE app_rw NOLOGIN;
            CREATE TABLE public.orders (id int);
            INSERT INTO public.orders VALUES (42);
            GRANT SELECT, INSERT ON public.orders TO app_rw;
            CREATE ROLE app_owner NOLOGIN;
            CREATE SCHEMA app AUTHORIZATION app_owner;
            CREATE SCHEMA scratch;
            GRANT CREATE, USAGE ON SCHEMA scratch TO app_rw;
            CREATE ROLE mintmark LOGIN CREATEROLE NOINHERIT PASSWORD '%s';
            GRANT app_rw, app_owner TO mintmark WITH ADMIN TRUE, INHERIT FALSE, SET FALSE;
            """;

    /** Before version 16, a grant has no options. */
    private static final String OLD_ROLES =
            "CREATE ROLE app_rw; CREATE ROLE mintmark LOGIN CREATEROLE PASSWORD '%s'";

    private static final Map<Integer, TargetServer> SHARED = new ConcurrentHashMap<>();

    private final EmbeddedPostgres server;
    private final Path data;

    private TargetServer(EmbeddedPostgres server, Path data) {
        this.server = server;
        this.data = data;
    }

    /** One that the tests of this JVM share. */
    static TargetServer shared(int version) {
        return SHARED.computeIfAbsent(version, each -> start(each, Map.of(), HBA));
    }

    public static TargetServer start(int version, Map<String, String> settings, String hba) {
        try {
            Path data = Files.createTempDirectory("mintmark-target");
            EmbeddedPostgres.Builder builder =
                    EmbeddedServer.builder()
                            .setServerConfig("logging_collector", "on")
                            .setServerConfig("log_filename", "all.log")
                            .setServerConfig("log_statement", "all")
                            .setServerConfig("log_connections", "on")
                            .setServerConfig("log_line_prefix", "%u:");
            settings.forEach(builder::setServerConfig);
            if (version != NEWEST) {
                builder.setPgBinaryResolver(programs(version));
            }
            TargetServer target = new TargetServer(EmbeddedServer.start(builder, data), data);
            Files.writeString(data.resolve("pg_hba.conf"), hba);
            target.run("SELECT pg_reload_conf()");
            target.run((version < 16 ? OLD_ROLES : ROLES).formatted(quoted(BROKER_PASSWORD)));
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String quoted(String text) {
        return text.replace("'", "''");
    }

    private static PgBinaryResolver programs(int version) {
        return (system, hardware) -> {
            try (ZipFile jar =
                            new ZipFile(
                                    PROGRAMS.resolve("postgres-%d.jar".formatted(version))
                                            .toFile());
                    InputStream archive = jar.getInputStream(archive(jar))) {
                return new ByteArrayInputStream(archive.readAllBytes());
            }
        };
    }

    private static ZipEntry archive(ZipFile jar) {
        return jar.stream()
                .filter(each -> each.getName().endsWith(".txz"))
                .findFirst()
                .orElseThrow();
    }

    public int port() {
        return server.getPort();
    }

    Path data() {
        return data;
    }

    String log() {
        return Unchecked.call(() -> Files.readString(data.resolve("log").resolve("all.log")));
    }

    /** A connection as a role. */
    Connection connect(String user, String password, String database) throws SQLException {
        return connect(user, password, database, "");
    }

    /** The same with the options of the server's command line. */
    Connection connect(String user, String password, String database, String options)
            throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("options", options);
        properties.setProperty("user", user);
        properties.setProperty("password", password);
        return DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port(), database), properties);
    }

    /** As the superuser. */
    @Override
    public Connection connect() throws SQLException {
        return connect("postgres", "", "postgres");
    }

    /** Removes all that mints left, whatever it is. */
    void clean() {
        run(
                """
                DO $$
                DECLARE r text;
                BEGIN
                    FOR r IN SELECT rolname FROM pg_roles WHERE rolname ~ '^mm_' LOOP
                        PERFORM pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE usename = r;
                        EXECUTE format('DROP OWNED BY %I CASCADE', r);
                        EXECUTE format('DROP ROLE %I', r);
                    END LOOP;
                END
                $$
                """);
    }

    @Override
    public void close() {
        Unchecked.run(server::close);
    }
}
