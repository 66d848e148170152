package io.mintmark.audit.log;

import io.mintmark.Unchecked;
import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.PemFiles;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A server with the rows of {@link BulkRows}, which counts what statements cost. */
final class ScaledServer implements AutoCloseable {
    private final Path directory = Files.createTempDirectory("mintmark-scale");
    private final EmbeddedPostgres server;

    ScaledServer() throws IOException {
        server =
                EmbeddedServer.start(
                        EmbeddedServer.builder()
                                .setServerConfig("fsync", "off")
                                .setServerConfig("full_page_writes", "off")
                                .setServerConfig("max_wal_size", "8GB")
                                .setServerConfig("shared_preload_libraries", "pg_stat_statements")
                                .setServerConfig("pg_stat_statements.max", "20000"),
                        directory.resolve("data"));
        FigureServer.createLogins(server);
        FigureServer.migrate(server);
        PemFiles.p256(auditKey());
    }

    /**
     * Writes the rows.
     *
     * @param grants of the tenant that has the most
     */
    void fill(long rows, int tenants, int grants) throws IOException {
        BulkRows bulk = new BulkRows(superuser(), rows, tenants, grants);
        bulk.configure();
        bulk.work();
        bulk.fill();
        superuser().run(FigurePages.VIEWERS);
    }

    Path auditKey() {
        return directory.resolve("audit.pem");
    }

    /** What the broker seals with. */
    SealingKeys keys() {
        SettingsReader reader =
                new SettingsReader(
                        Map.of("AUDIT_SIGNING_KEY_FILE", auditKey().toString()), directory);
        return AuditKey.read(reader.audit(), new HeldKeys(reader.pkcs11()));
    }

    SqlRunner superuser() {
        return FigureServer.superuser(server);
    }

    SqlRunner runner(Who who) {
        return () -> server.getDatabase(who.login(), "postgres").getConnection();
    }

    DatabaseLogin login(Who who) {
        return FigureServer.login(server, who.login());
    }

    @Override
    public void close() {
        Unchecked.run(server::close);
    }
}
