package io.mintmark.base.sql;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.Subject;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.KeyName;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has the configuration grant the mints of {@link AuditRows}, whatever subject they are of, and
 * makes rows of them such as a broker writes: with the state that the tenant is in just now.
 */
public final class GrantedMints {
    private final TestDatabase database;

    /** Writes all that the tenant {@code acme} needs, but for the grants. */
    public GrantedMints(TestDatabase database) {
        this.database = database;
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme') ON CONFLICT DO NOTHING;
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', 'https://issuer.example.com', '{mintmark-mints}') ON CONFLICT DO NOTHING;
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}') ON CONFLICT DO NOTHING;
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'deploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}')
                    ON CONFLICT DO NOTHING;
                """);
    }

    /**
     * Grants these subjects in a configuration that was written at a time, before mints of the
     * past. No checkpoint may have been made.
     */
    public static GrantedMints since(TestDatabase database, Instant at, String... subjects) {
        GrantedMints granted = new GrantedMints(database);
        List.of(subjects).forEach(granted::grant);
        database.runAsSuperuser(
                Backdated.configuration(Duration.between(at, Instant.now()).plusSeconds(1)));
        return granted;
    }

    /** Rows of mints as a broker would write them now; other rows as they are. */
    public List<Event> of(List<Event> rows) {
        return Unchecked.call(() ->
                database.rolledBack(
                        Who.AUDITOR,
                        auditor -> {
                            List<Event> granted = new ArrayList<>();
                            for (Event row : rows) {
                                granted.add(row.grant().isPresent() ? granted(auditor, row) : row);
                            }
                            return granted;
                        }));
    }

    private Event granted(Connection auditor, Event row) throws SQLException {
        KeyName key = row.key().orElseThrow();
        Subject subject = row.subject().orElseThrow();
        String issuer =
                text(auditor, "SELECT issuer FROM broker.identity_provider WHERE name = 'ci'")
                        .orElseThrow();
        return new Event(
                row.mintId(),
                row.kind(),
                row.occurredAt(),
                row.caller(),
                Optional.of(of(issuer, subject)),
                Optional.of(key),
                Optional.of(reference(auditor, subject.name().orElseThrow())),
                row.reason(),
                row.detail(),
                row.credential(),
                Optional.empty());
    }

    private static Subject of(String issuer, Subject subject) {
        return new Subject(
                subject.tenant(),
                subject.idp(),
                issuer,
                subject.name(),
                subject.tokenId(),
                subject.tokenHash(),
                subject.claims());
    }

    private GrantReference reference(Connection auditor, String subject) throws SQLException {
        String id =
                "SELECT id FROM broker.subject_grant WHERE tenant = 'acme' AND key = 'deploy' AND subject = '%s'"
                        .formatted(pattern(subject).replace("'", "''"));
        if (text(auditor, id).isEmpty()) {
            grant(subject);
        }
        return StoredGrants.reference(auditor, Long.parseLong(text(auditor, id).orElseThrow()));
    }

    private void grant(String subject) {
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', '%s', '%s', 'deploy')
                """
                        .formatted(
                                pattern(subject).replace("'", "''"),
                                isLine(subject) ? "exact" : "glob"));
    }

    /** A grant names one line, and so subjects of several are granted by what they begin with. */
    private static String pattern(String subject) {
        return isLine(subject) ? subject : subject.substring(0, subject.indexOf(':')) + ":**";
    }

    private static boolean isLine(String subject) {
        return subject.codePoints().noneMatch(Character::isISOControl);
    }

    private static Optional<String> text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
        }
    }
}
