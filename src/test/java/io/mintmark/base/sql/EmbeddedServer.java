package io.mintmark.base.sql;

import io.mintmark.ReservedPorts;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Starts embedded PostgreSQL servers, each on a port that no other test process uses. */
public final class EmbeddedServer {
    /** Where the programs are unpacked, once for all. */
    private static final File PROGRAMS =
            new File(System.getProperty("java.io.tmpdir"), "embedded-pg");

    /** A program that isn't a test may take the port in between. */
    private static final int ATTEMPTS = 3;

    private EmbeddedServer() {}

    /** What its caller adds its settings to. */
    public static EmbeddedPostgres.Builder builder() {
        return EmbeddedPostgres.builder().setOverrideWorkingDirectory(PROGRAMS);
    }

    /**
     * Starts it on a port of its own.
     *
     * @param data where its files are to be
     */
    public static EmbeddedPostgres start(EmbeddedPostgres.Builder builder, Path data) {
        for (int attempt = 1; ; attempt++) {
            try {
                return start(builder, data, ReservedPorts.next());
            } catch (UncheckedIOException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Starts it, and makes sure that what answers is the server of these files. */
    public static EmbeddedPostgres start(EmbeddedPostgres.Builder builder, Path data, int port) {
        try {
            EmbeddedPostgres server = builder.setDataDirectory(data).setPort(port).start();
            requireOwn(server, data);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL could not be started on port " + port, e);
        }
    }

    private static void requireOwn(EmbeddedPostgres server, Path data) throws IOException {
        SqlRunner superuser = () -> server.getPostgresDatabase().getConnection();
        Path met = Path.of(superuser.value("SHOW data_directory"));
        if (!met.toRealPath().equals(data.toRealPath())) {
            server.close();
            throw new IOException(
                    "Port %d is another server's, whose files are in %s"
                            .formatted(server.getPort(), met));
        }
    }
}
