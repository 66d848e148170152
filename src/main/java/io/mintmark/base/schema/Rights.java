package io.mintmark.base.schema;

import io.mintmark.base.sql.Roles;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The policies and privileges of the schema. Migrations define them once for each version, but an
 * owner or a superuser can take them away in between, for example with DROP OWNED BY before a role
 * is dropped.
 */
final class Rights {
    private static final Logger log = LoggerFactory.getLogger(Rights.class);

    /** The repeatable migrations that define the rights. */
    private static final List<String> FILES =
            List.of("/db/migration/R__21_policies.sql", "/db/migration/R__90_privileges.sql");

    /** Takes a lock, so that one process restores at a time. Readers don't wait. */
    private static final String ALONE =
            "LOCK TABLE runtime.schema_version IN SHARE ROW EXCLUSIVE MODE";

    /** A policy whose comment is its definition is left alone, however it was altered. */
    private static final String DEFINE_ALL =
            """
            DO $$
            DECLARE
                policy record;
            BEGIN
                FOR policy IN SELECT p.polname, p.polrelid::regclass AS target FROM pg_catalog.pg_policy AS p
                               WHERE p.polrelid IN (SELECT c.oid FROM pg_catalog.pg_class AS c
                                                     WHERE c.relnamespace::regnamespace::text IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work')) LOOP
                    EXECUTE format('COMMENT ON POLICY %I ON %s IS NULL', policy.polname, policy.target);
                END LOOP;
            END
            $$
            """;

    private final Connection connection;
    private final Roles roles;
    private final Map<String, String> placeholders;

    /**
     * @param connection of the owner
     */
    Rights(Connection connection, Roles roles, Map<String, String> placeholders) {
        this.connection = connection;
        this.roles = roles;
        this.placeholders = placeholders;
    }

    /** Restores the rights if they differ from those of this release. */
    void restore() throws SQLException {
        if (differences().isEmpty()) {
            return;
        }
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(ALONE);
            List<String> differences = differences();
            if (differences.stream().anyMatch(it -> it.startsWith("Policy"))) {
                statement.execute(DEFINE_ALL);
            }
            for (String file : differences.isEmpty() ? List.<String>of() : FILES) {
                statement.execute(read(file));
            }
            List<String> left = differences();
            connection.commit();
            differences.removeAll(left);
            if (!differences.isEmpty()) {
                log.warn(
                        "Restored policies and privileges that had been changed by hand: {}",
                        String.join("; ", differences));
            }
        } finally {
            connection.rollback();
        }
    }

    private List<String> differences() throws SQLException {
        List<String> differences = new ArrayList<>();
        new SchemaManifest(connection, roles).differencesOfRights(differences::add);
        return differences;
    }

    private String read(String file) {
        try (InputStream in = Rights.class.getResourceAsStream(file)) {
            String sql =
                    new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            for (Map.Entry<String, String> placeholder : placeholders.entrySet()) {
                sql = sql.replace("${%s}".formatted(placeholder.getKey()), placeholder.getValue());
            }
            return sql;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "migration %s of this release can't be read; reinstall Mintmark"
                            .formatted(file),
                    e);
        }
    }
}
