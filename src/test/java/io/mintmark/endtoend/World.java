package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsStandIn;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A database, a broker, an issuer of identity tokens and a stand-in for AWS STS, and one tenant
 * that an admin set up: {@code acme} trusts the issuer's tokens for {@code mintmark-acme}, has the
 * keys {@code deploy} (AWS), {@code api} and {@code spare} (jwt), and grants the subject {@code
 * ci:main} the first two.
 */
public final class World implements AutoCloseable {
    public static final String AUDIENCE = "mintmark-acme";
    public static final String SUBJECT = "ci:main";
    public static final String ROLE = "arn:aws:iam::123456789012:role/deploy";

    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final RunningBroker broker;
    private final StsStandIn sts;

    public World() {
        this(Map.of());
    }

    /** With settings besides those that every broker needs. */
    public World(Map<String, String> settings) {
        assertEquals(200, FirstMint.STATUS);
        this.broker = RunningBroker.on(database, settings);
        this.sts = StsStandIn.aws(broker.url().toString(), broker::keySet);
        admin(tenant(issuer.url(), sts.endpoint()));
    }

    /**
     * The first mint of this process. It loads the HTTP client and more, so on a loaded machine it
     * takes longer than requests wait for an issuer's keys, and then nobody gets them for five
     * seconds. The broker and its database are thrown away: those of a test have read nothing yet.
     */
    private static final class FirstMint {
        static final int STATUS = status();

        private static int status() {
            try (TestDatabase database = TestDatabase.migrated();
                    IssuerStandIn issuer = IssuerStandIn.start();
                    RunningBroker broker = RunningBroker.on(database)) {
                database.admin(tenant(issuer.url(), "http://127.0.0.1:1"));
                Eventually.holds(
                        () -> broker.mint(issuer.sign(SUBJECT, AUDIENCE), "api").status() == 200);
                return 200;
            }
        }
    }

    /** What an admin writes to set the tenant up. */
    public static String tenant(String issuer, String sts) {
        return """
        INSERT INTO broker.tenant (name) VALUES ('acme');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        VALUES ('ci', 'acme', '%s', '{mintmark-acme}');
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "%s"}'),
               ('acme', 'own', 'jwt', '{}');
        INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
        VALUES ('acme', 'deploy', 'aws', 'Deploys', 3600, '{"role_arn": "%s"}'),
               ('acme', 'api', 'own', 'The API', 600, '{"audience": "https://api.example.com"}'),
               ('acme', 'spare', 'own', 'Not granted', 600,
                '{"audience": "https://spare.example.com"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        VALUES ('acme', 'ci', 'ci:main', 'deploy'),
               ('acme', 'ci', 'ci:main', 'api');
        """
                .formatted(issuer, sts, ROLE);
    }

    public TestDatabase database() {
        return database;
    }

    public IssuerStandIn issuer() {
        return issuer;
    }

    public RunningBroker broker() {
        return broker;
    }

    public StsStandIn sts() {
        return sts;
    }

    /** A good token of the usual subject. */
    public String token() {
        return issuer.sign(SUBJECT, AUDIENCE);
    }

    /** The same when it is over. */
    public String expiredToken() {
        long past = Instant.now().minusSeconds(5).getEpochSecond();
        return issuer.sign(Map.of("sub", SUBJECT, "aud", AUDIENCE, "exp", past));
    }

    /** Runs statements as a platform admin. */
    public void admin(String sql) {
        database.admin(sql);
    }

    /** The first column of a query, run by an auditor. */
    public List<String> column(String sql) {
        return database.column(sql);
    }

    /** The first column of a query's only row, run by an auditor. */
    public String value(String sql) {
        return database.value(sql);
    }

    /** The first column of a query's rows, run by an auditor, must be this. */
    public void assertRows(String sql, String... expected) {
        database.assertRows(sql, expected);
    }

    /**
     * The kinds of the audit log's rows in the order of their writing, one mint after the other. A
     * mint that an edit overtook is left out: the broker repeats it if the edit was committed
     * before the intent, and no test knows when a replica hears of an edit.
     */
    public List<String> audited(String where) {
        return database.column(
                """
                SELECT concat_ws(' ', kind, key, reason) FROM audit.event
                 WHERE (%s)
                   AND (mint_id IN (SELECT mint_id FROM audit.event WHERE reason = 'decided_again')) IS NOT TRUE
                 ORDER BY mint_id, step
                """
                        .formatted(where));
    }

    /** The same of a request. */
    public List<String> auditedFor(String requestId) {
        return audited("request_id = '%s'".formatted(requestId));
    }

    public void assertAudited(String requestId, String... rows) {
        assertEquals(List.of(rows), auditedFor(requestId));
    }

    /** A request's mint of {@code deploy} has the facts of one through the interface. */
    void assertMintedLikeTheInterface(String requestId) {
        broker.post(
                "{\"keys\":[\"deploy\"]}",
                "Authorization",
                "Bearer " + token(),
                "X-Request-ID",
                requestId + "-usual");
        assertEquals(
                "1",
                value(
                        """
                        SELECT count(DISTINCT (tenant, idp, issuer, subject, key, provider,
                                               provider_type, grant_id, outcome,
                                               client_address, claims))
                          FROM audit.mint WHERE request_id IN ('%1$s', '%1$s-usual')
                        """
                                .formatted(requestId)));
    }

    @Override
    public void close() {
        broker.close();
        sts.close();
        issuer.close();
        database.close();
    }
}
