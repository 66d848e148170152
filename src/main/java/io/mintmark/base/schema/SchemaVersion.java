package io.mintmark.base.schema;

import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Query;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a database's schema, as the last migration wrote it, and whether a program may
 * work with it.
 *
 * @param version raised by every release that changes a migration; 0 while the first one runs
 * @param oldestProgram the oldest program that can work with the schema
 */
record SchemaVersion(int version, String oldestProgram) {
    /**
     * The version that this program's migrations make. To be raised with any change of a released
     * migration; docs/schema.md has the rules. Development used the numbers below 40.
     */
    static final int OURS = 41;

    private static final String LAST_FILE = "/db/migration/R__99_schema_version.sql";
    private static final Pattern OLDEST_PROGRAM = Pattern.compile("oldest_program = '([0-9.]+)'");

    private static final String PRESENT =
            """
            SELECT to_regclass('runtime.schema_version') IS NOT NULL AS versioned,
                   to_regclass('audit.config_change') IS NOT NULL AS made
            """;

    private static final String LATEST =
            """
            SELECT version, oldest_program FROM runtime.schema_version
             ORDER BY version DESC LIMIT 1
            """;

    /**
     * The version of a database's schema; empty if it has no schema yet.
     *
     * @throws DatabaseUnfit if it has one that no released program made
     */
    static Optional<SchemaVersion> of(Connection connection) throws SQLException {
        boolean versioned =
                Query.of(PRESENT).first(connection, SchemaVersion::isVersioned).orElseThrow();
        if (!versioned) {
            return Optional.empty();
        }
        return Optional.of(
                Query.of(LATEST)
                        .first(
                                connection,
                                row ->
                                        new SchemaVersion(
                                                row.getInt("version"),
                                                row.getString("oldest_program")))
                        .orElseThrow(SchemaVersion::unknown));
    }

    private static boolean isVersioned(ResultSet row) throws SQLException {
        if (!row.getBoolean("versioned") && row.getBoolean("made")) {
            throw unknown();
        }
        return row.getBoolean("versioned");
    }

    /**
     * The version that this release's migrations make, with the oldest program that can work with
     * it, which the last migration names.
     */
    static SchemaVersion ofOurs() {
        try (InputStream file = SchemaVersion.class.getResourceAsStream(LAST_FILE)) {
            String sql =
                    new String(
                            Objects.requireNonNull(file, LAST_FILE).readAllBytes(),
                            StandardCharsets.UTF_8);
            Matcher oldest = OLDEST_PROGRAM.matcher(sql);
            if (!oldest.find()) {
                throw new IllegalStateException(LAST_FILE + " names no oldest_program");
            }
            return new SchemaVersion(OURS, oldest.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static DatabaseUnfit unknown() {
        return new DatabaseUnfit(
                "the schema has migrations that this release doesn't have, so another release or a development version made them; use the release that made the schema. In development, delete .mintmark/postgres instead, which deletes all data");
    }

    boolean isNewerThanOurs() {
        return version > OURS;
    }

    /**
     * Requires that a program can work with this schema.
     *
     * @param program its version; empty outside of a build, which counts as too old for a newer
     *     schema
     * @throws DatabaseUnfit that says what to do, if it can't
     */
    void require(Optional<String> program) {
        if (version < OURS) {
            throw new DatabaseUnfit(
                    ("the schema has version %d, but this release needs version %d; run: mintmark"
                                    + " migrate")
                            .formatted(version, OURS));
        }
        if (isNewerThanOurs() && !program.filter(this::allows).isPresent()) {
            throw new DatabaseUnfit(
                    "the schema has version %d, which needs Mintmark %s or newer; this is %s"
                            .formatted(version, oldestProgram, program.orElse("unversioned")));
        }
    }

    private boolean allows(String program) {
        return Version.parse(program).compareTo(Version.parse(oldestProgram)) >= 0;
    }
}
