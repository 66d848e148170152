package io.mintmark.auditor.explain;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/** Somebody who edits two tenants, and what counts for all, without end and sense. */
public final class RandomEdits implements Runnable {
    static final List<String> TENANTS = List.of("t1", "t2");
    static final List<String> KEYS = List.of("api", "deploy");

    private static final List<String> SUBJECTS = List.of("a:b", "a:c", "a:b/c", "x", "x:y");
    private static final List<String> GLOBS =
            List.of("a:*", "a:**", "a:b*", "a:b**", "x**", "a:b", "a:**c");
    private static final List<String> SWITCHES =
            List.of("key", "access_provider", "identity_provider");

    /** When a transaction was committed, by the database's clock: not before, and not after. */
    public record Commit(Instant notBefore, Instant notAfter) {}

    private final TestDatabase database;
    private final Random random;
    private final int transactions;
    private final Map<Long, Commit> commits;

    public RandomEdits(
            TestDatabase database, long seed, int transactions, Map<Long, Commit> commits) {
        this.database = database;
        this.random = new Random(seed);
        this.transactions = transactions;
        this.commits = commits;
    }

    /** Where several of them note their transactions. */
    public static Map<Long, Commit> commits() {
        return new ConcurrentHashMap<>();
    }

    /** What both tenants have before anybody edits them. Deadlocks of editors are found soon. */
    public static void setUp(TestDatabase database) {
        database.runAsSuperuser(
                """
                DO $$
                BEGIN
                    EXECUTE format(
                        'ALTER DATABASE %I SET deadlock_timeout = 10', current_database());
                END $$
                """);
        for (String tenant : TENANTS) {
            database.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('%1$s');
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    VALUES ('%1$s-ci', '%1$s', 'https://ci.example.com', '{%1$s}'),
                           ('%1$s-other', '%1$s', 'https://other.example.com', '{%1$s}');
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('%1$s', 'own', 'jwt', '{}'),
                           ('%1$s', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('%1$s', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                           ('%1$s', 'deploy', 'aws', 3600,
                            '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}');
                    """
                            .formatted(tenant));
        }
    }

    @Override
    public void run() {
        try (Connection connection = database.connect(Who.OWNER);
                Statement statement = connection.createStatement()) {
            statement.execute("SET ROLE mintmark_owner");
            connection.setAutoCommit(false);
            for (int i = 0; i < transactions; i++) {
                transaction(connection, statement);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void transaction(Connection connection, Statement statement) throws SQLException {
        String tenant = one(TENANTS);
        int edits = 1 + random.nextInt(12);
        for (int i = 0; i < edits; i++) {
            attempt(connection, statement, edit(tenant));
        }
        if (random.nextInt(4) == 0) {
            attempt(connection, statement, editOfAllTenants());
        }
        long number = number(statement);
        Instant notBefore = now(statement);
        if (random.nextInt(10) == 0) {
            connection.rollback();
            return;
        }
        connection.commit();
        commits.put(number, new Commit(notBefore, now(statement)));
        connection.rollback();
    }

    /** What can't be written is refused, and the transaction goes on. */
    private static void attempt(Connection connection, Statement statement, String sql)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            connection.rollback(before);
        }
    }

    private String edit(String tenant) {
        return switch (random.nextInt(11)) {
            case 0, 1, 2 -> insertGrant(tenant);
            case 3, 4 -> updateGrant(tenant);
            case 5 ->
                    "DELETE FROM broker.subject_grant WHERE id = "
                            + someRow("subject_grant", tenant);
            case 6 -> insertBlock("'%s'".formatted(tenant));
            case 7 -> editBlock("tenant = '%s'".formatted(tenant));
            case 8 ->
                    "UPDATE broker.%s SET enabled = %b WHERE tenant = '%s' AND name LIKE '%%%s'"
                            .formatted(
                                    one(SWITCHES),
                                    random.nextInt(3) > 0,
                                    tenant,
                                    one(List.of("api", "deploy", "own", "aws", "ci", "other")));
            case 9 ->
                    "UPDATE broker.key SET max_duration = %d WHERE tenant = '%s' AND name = '%s'"
                            .formatted(900 + random.nextInt(3), tenant, one(KEYS));
            default ->
                    "UPDATE broker.tenant SET enabled = %b, max_duration = %s WHERE name = '%s'"
                            .formatted(
                                    random.nextInt(5) > 0,
                                    one(List.of("NULL", "901", "902", "903")),
                                    tenant);
        };
    }

    private String editOfAllTenants() {
        return switch (random.nextInt(3)) {
            case 0 -> insertBlock("NULL");
            case 1 -> editBlock("tenant IS NULL");
            default ->
                    "UPDATE broker.provider_type SET min_duration = %d WHERE type = '%s'"
                            .formatted(900 + random.nextInt(2), one(List.of("jwt", "aws-sts")));
        };
    }

    private String insertGrant(String tenant) {
        boolean glob = random.nextBoolean();
        return """
        INSERT INTO broker.subject_grant
               (tenant, idp, subject, match, key, valid_from, valid_until, max_duration, enabled)
        VALUES ('%1$s', '%1$s-%2$s', '%3$s', '%4$s', '%5$s', %6$s, %7$s, %8$s, %9$b)
        """
                .formatted(
                        tenant,
                        random.nextInt(4) > 0 ? "ci" : "other",
                        one(glob ? GLOBS : SUBJECTS),
                        glob ? "glob" : "exact",
                        one(KEYS),
                        random.nextInt(4) == 0 ? inSeconds(0) : "NULL",
                        random.nextInt(4) == 0 ? inSeconds(901) : "NULL",
                        random.nextInt(4) == 0 ? 900 + random.nextInt(3) : "NULL",
                        random.nextInt(5) > 0);
    }

    /** A moment close to others that the test is about. */
    private String inSeconds(int seconds) {
        return "clock_timestamp() + interval '%d milliseconds'"
                .formatted(seconds * 1000 + random.nextInt(2000));
    }

    private String updateGrant(String tenant) {
        String change =
                switch (random.nextInt(4)) {
                    case 0 -> "enabled = NOT enabled";
                    case 1 -> "key = '%s'".formatted(one(KEYS));
                    case 2 -> "valid_until = " + inSeconds(901);
                    default -> "reason = '%d'".formatted(random.nextInt(3));
                };
        return "UPDATE broker.subject_grant SET %s WHERE id = %s"
                .formatted(change, someRow("subject_grant", tenant));
    }

    private static String someRow(String table, String tenant) {
        return "(SELECT id FROM broker.%s WHERE tenant = '%s' ORDER BY random() LIMIT 1)"
                .formatted(table, tenant);
    }

    private String insertBlock(String tenant) {
        boolean glob = random.nextBoolean();
        return """
        INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason, until)
        VALUES (%s, %s, '%s', '%s', 'x', %s)
        """
                .formatted(
                        tenant,
                        random.nextInt(4) == 0
                                ? tenant.replace("'", "")
                                        .transform(t -> t.equals("NULL") ? t : "'" + t + "-ci'")
                                : "NULL",
                        one(glob ? GLOBS : SUBJECTS),
                        glob ? "glob" : "exact",
                        random.nextInt(3) == 0 ? inSeconds(0) : "NULL");
    }

    private String editBlock(String where) {
        return (random.nextInt(3) == 0
                        ? "UPDATE broker.blocked_subject SET enabled = NOT enabled"
                        : "DELETE FROM broker.blocked_subject")
                + " WHERE id IN (SELECT id FROM broker.blocked_subject WHERE "
                + where
                + " ORDER BY random() LIMIT 2)";
    }

    private <T> T one(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private static long number(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT pg_current_xact_id()::text::bigint")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static Instant now(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }
}
