package io.mintmark.base.sql;

import io.mintmark.Unchecked;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.postgresql.PostgreSQLContainer;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The PostgreSQL that the tests of this JVM share: the one that {@code TEST_DATABASE_URL} names
 * (with a superuser in it), else one in a container where there is Docker, else an embedded one.
 */
public final class TestServer {
    private static final String SUPERUSER = "postgres";
    private static final String IMAGE = "postgres:18";

    /** For the servers of all test processes, with plenty to spare. */
    private static final long ENOUGH = 4L << 30;

    /** Where the server is and who is its superuser; the password may be empty. */
    public record Address(String host, int port, String superuser, String password) {
        String url(String database) {
            return "jdbc:postgresql://%s:%d/%s".formatted(host, port, database);
        }
    }

    private static final class Shared {
        static final Address ADDRESS = start();
    }

    private TestServer() {}

    public static Address address() {
        return Shared.ADDRESS;
    }

    private static Address start() {
        Optional<Address> given =
                Optional.ofNullable(System.getenv("TEST_DATABASE_URL")).map(TestServer::given);
        return given.orElseGet(
                () -> Files.exists(Path.of("/var/run/docker.sock")) ? inContainer() : embedded());
    }

    private static Address given(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return new Address(
                source.getServerNames()[0],
                source.getPortNumbers()[0],
                Optional.ofNullable(source.getUser()).orElse(SUPERUSER),
                Optional.ofNullable(source.getPassword()).orElse(""));
    }

    private static Address inContainer() {
        PostgreSQLContainer container =
                new PostgreSQLContainer(IMAGE)
                        .withUsername(SUPERUSER)
                        .withCommand(
                                "postgres",
                                "-c",
                                "max_connections=300",
                                "-c",
                                "max_prepared_transactions=10");
        container.start();
        return new Address(
                container.getHost(),
                container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT),
                SUPERUSER,
                container.getPassword());
    }

    private static Address embedded() {
        EmbeddedPostgres.Builder builder =
                EmbeddedServer.builder()
                        .setServerConfig("max_connections", "300")
                        .setServerConfig("max_prepared_transactions", "10")
                        // databases that live for seconds aren't worth a worker's visits
                        .setServerConfig("autovacuum", "off");
        Path data = Unchecked.call(() -> Files.createTempDirectory(data(), "epg"));
        EmbeddedPostgres server = EmbeddedServer.start(builder, data);
        return new Address("localhost", server.getPort(), SUPERUSER, "");
    }

    /**
     * In memory where there is enough: hundreds of databases come and go, and a file system on a
     * disk takes three times as long for their files.
     */
    private static Path data() {
        File memory = new File("/dev/shm");
        return memory.canWrite() && memory.getUsableSpace() > ENOUGH
                ? memory.toPath()
                : Path.of(System.getProperty("java.io.tmpdir"));
    }
}
