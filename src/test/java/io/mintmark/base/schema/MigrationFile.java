package io.mintmark.base.schema;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A file of db/migration, to be run by itself. */
public record MigrationFile(String name, String sql) {
    static final Path DIRECTORY = Path.of("db", "migration");

    private static final Map<String, String> PLACEHOLDERS =
            Map.of(
                    "owner_role", "mintmark_owner",
                    "app_role", "mintmark_app",
                    "admin_role", "mintmark_admin",
                    "tenant_admin_role", "mintmark_tenant_admin",
                    "auditor_role", "mintmark_auditor",
                    "console_role", "mintmark_console",
                    "schema_version", String.valueOf(SchemaVersion.OURS));

    /** All of them, in the order in which Flyway runs them: V01 to V14, then R__01 to R__99. */
    public static List<MigrationFile> all() {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            return files.map(MigrationFile::read)
                    .sorted(
                            Comparator.comparing(MigrationFile::isRepeatable)
                                    .thenComparing(MigrationFile::name))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MigrationFile read(Path file) {
        try {
            String sql = Files.readString(file);
            for (Map.Entry<String, String> each : PLACEHOLDERS.entrySet()) {
                sql = sql.replace("${" + each.getKey() + "}", each.getValue());
            }
            return new MigrationFile(file.getFileName().toString(), sql);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isRepeatable() {
        return name.startsWith("R__");
    }

    /** Runs it in a transaction, as the owner. */
    public void run(TestDatabase database) {
        database.run(
                Who.OWNER,
                "BEGIN; SET LOCAL ROLE mintmark_owner; SET LOCAL client_min_messages = warning;"
                        + sql
                        + "; COMMIT");
    }
}
