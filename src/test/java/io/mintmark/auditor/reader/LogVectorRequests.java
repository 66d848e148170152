package io.mintmark.auditor.reader;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

/**
 * The requests of docs/audit-test-vector: ann asks, bob and a program approve in a step each; an
 * agent asks for eve, who consents.
 */
final class LogVectorRequests {
    private static final String RULES =
            """
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('people', 'acme', 'https://people.example.com', '{mintmark-people}');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
            VALUES ('agents', 'acme', 'https://agents.example.com', '{mintmark-agents}', '{actor}'),
                   ('bots', 'acme', 'https://bots.example.com', '{mintmark-bots}', '{approver}');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent)
            VALUES ('acme', 'deploy', 'people', 'user:ann', 3600, false),
                   ('acme', 'deploy', 'people', 'user:eve', 3600, true);
            INSERT INTO broker.access_approver (rule, idp, subject, step, program)
            VALUES (1, 'people', 'user:bob', 1, false), (1, 'bots', 'gate', 2, true);
            """;

    private final TestDatabase database;

    LogVectorRequests(TestDatabase database) {
        this.database = database;
        database.admin(RULES);
    }

    /** The id of a request of a person, or of an agent for a person. */
    String asks(String subject, boolean agent, String reason) {
        return only(
                "SELECT id FROM internal.request_access('acme', 'people', '%s', '{}', %s, '{deploy}', '%s', 1800, false)"
                        .formatted(
                                subject, agent ? "'agents', 'agent:bot'" : "NULL, NULL", reason));
    }

    void consents(String request) {
        decides("people", "user:eve", request, "approve", "NULL");
    }

    void approvesInBothSteps(String request) {
        decides("people", "user:bob", request, "approve", "NULL");
        decides("bots", "gate", request, "approve", "'SCHEDULE-7'");
    }

    void withdraws(String request) {
        decides("people", "user:bob", request, "withdraw", "'done by now'");
    }

    private void decides(String idp, String subject, String request, String verdict, String note) {
        String refusal =
                only(
                        """
                        SELECT coalesce(refusal, 'none')
                          FROM internal.decide_access('acme', '%s', '%s', jsonb_build_object('iat', extract(epoch FROM now())::bigint),
                                                      false, '%s', '%s', %s)
                        """
                                .formatted(idp, subject, request, verdict, note));
        if (!refusal.equals("none")) {
            throw new IllegalStateException(refusal);
        }
    }

    private String only(String sql) {
        return String.valueOf(database.column(Who.APP, sql).getFirst());
    }
}
