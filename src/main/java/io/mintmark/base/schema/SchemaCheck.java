package io.mintmark.base.schema;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Roles;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds out whether a program can work with the schema that is there. */
public final class SchemaCheck {
    private final Connections connections;

    private interface Connections {
        Connection open() throws SQLException;
    }

    /** Checks the schema over a connection of its own. */
    public SchemaCheck(DatabaseLogin login) {
        this.connections = () -> login.source("mintmark", "").getConnection();
    }

    /** Uses one of the open connections. */
    public SchemaCheck(Database database) {
        this.connections = database::connection;
    }

    /**
     * The schema's age beside this release's.
     *
     * @throws DatabaseUnfit if it can't be found out
     */
    public Age age() {
        return version()
                .map(found ->
                        found.isNewerThanOurs()
                                ? Age.NEWER
                                : found.version() < SchemaVersion.OURS ? Age.OLDER : Age.SAME)
                .orElse(Age.NONE);
    }

    /** Whether a schema is of this release. */
    public enum Age {
        /** There is no schema yet. */
        NONE,
        /** The schema is of an earlier release. */
        OLDER,
        /** The schema is of this release, or of a build with the same number. */
        SAME,
        /** The schema is of a later release. */
        NEWER
    }

    /**
     * A sentence about the release that the schema is of, and the programs that may serve while
     * this release's migrations run.
     *
     * @throws DatabaseUnfit if it can't be found out
     */
    public String compared() {
        SchemaVersion ours = SchemaVersion.ofOurs();
        return version()
                .map(found ->
                        "the schema has version %d, made for Mintmark %s and newer; this release's version is %d, and Mintmark %s and newer may serve while its migrations run"
                                .formatted(
                                        found.version(),
                                        found.oldestProgram(),
                                        ours.version(),
                                        ours.oldestProgram()))
                .orElseGet(() ->
                        "the database has no schema yet; this release's version is %d"
                                .formatted(ours.version()));
    }

    private Optional<SchemaVersion> version() {
        try (Connection connection = connections.open()) {
            return SchemaVersion.of(connection);
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    /**
     * A sentence for each definition of the schema that differs from this release's.
     *
     * @throws DatabaseUnfit if it can't be found out
     */
    public List<String> differences(Roles roles) {
        List<String> differences = new ArrayList<>();
        try (Connection connection = connections.open()) {
            new SchemaManifest(connection, roles).differences(differences::add);
            return differences;
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    /**
     * Requires that the program can work with the schema.
     *
     * @param program its version; empty outside of a build, which counts as too old for a schema
     *     newer than its own
     * @throws DatabaseUnfit that says what to do, if it can't
     */
    public void require(Optional<String> program) {
        try (Connection connection = connections.open()) {
            SchemaVersion.of(connection)
                    .orElseThrow(() ->
                            new DatabaseUnfit(
                                    "the database has no schema yet; run: mintmark migrate"))
                    .require(program);
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }
}
