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

    /** By a connection of its own. */
    public SchemaCheck(DatabaseLogin login) {
        this.connections = () -> login.source("mintmark", "").getConnection();
    }

    /** Uses one of the open connections. */
    public SchemaCheck(Database database) {
        this.connections = database::connection;
    }

    /**
     * Whether migrations have something to do, the first one included.
     *
     * @throws DatabaseUnfit if it can't be found out
     */
    public boolean isOlderThanOurs() {
        try (Connection connection = connections.open()) {
            return SchemaVersion.of(connection)
                    .filter(found -> found.version() >= SchemaVersion.OURS)
                    .isEmpty();
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
                    .orElseThrow(
                            () -> new DatabaseUnfit("it has no schema yet; run: mintmark migrate"))
                    .require(program);
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }
}
