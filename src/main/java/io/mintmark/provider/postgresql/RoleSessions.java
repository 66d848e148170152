package io.mintmark.provider.postgresql;

import java.util.Optional;

/**
 * Ends the sessions of a role, acting as that role: it may end its own sessions and no others, so
 * none has to be recognized. A server shows a session that is still starting without its role, and
 * a client can make that last for 36 minutes (post_auth_delay).
 */
final class RoleSessions {
    /** The number of rounds. Each round but the first also waits for one session to end. */
    private static final int ROUNDS = 8;

    private static final int PATIENCE_MILLIS = 500;

    /** A starting session holds locks until pg_stat_activity has it, and so comes first. */
    private static final String STARTING =
            "starting int[] := ARRAY(SELECT pid FROM pg_locks WHERE pid IS NOT NULL);";

    /** Processes of others refuse. The server's own have no name, and would log a warning. */
    private static final String LOOP =
            """
            FOR p IN SELECT unnest(starting) UNION SELECT pid FROM pg_stat_activity WHERE usename = current_user \
            EXCEPT SELECT pid FROM pg_stat_activity WHERE usename <> current_user LOOP \
            BEGIN %s EXCEPTION WHEN insufficient_privilege THEN END; END LOOP;\
            """;

    private static final String LEFT = "mintmark.left";

    private RoleSessions() {}

    /** One statement that ends the role's sessions, for people. */
    static String byHand(String role) {
        return "DO $$ DECLARE p int; %s BEGIN SET LOCAL ROLE %s; %s END $$;"
                .formatted(STARTING, role, LOOP.formatted("PERFORM pg_terminate_backend(p);"));
    }

    private static String round(String role, int timeout) {
        return """
        DO $$
        DECLARE p int; ended int[] := '{}'; %s
        BEGIN
            SET LOCAL ROLE %s;
            %s
            %s
            PERFORM set_config('%s', coalesce((
                SELECT string_agg(format('%%s (%%s)', e, coalesce(wait_event_type || ' ' || wait_event, state, 'starting')), ', ')
                  FROM unnest(ended) AS e LEFT JOIN pg_stat_activity ON pid = e), ''), false);
        END $$
        """
                .formatted(
                        STARTING,
                        role,
                        LOOP.formatted(
                                "IF pg_terminate_backend(p) THEN ended := ended || p; END IF;"),
                        timeout == 0
                                ? ""
                                : "PERFORM pg_terminate_backend(ended[1], %d);".formatted(timeout),
                        LEFT);
    }

    /**
     * Ends them. The role can't log in any more, and the session's own may become it.
     *
     * @return processes that did not end, and what they wait for
     */
    static Optional<String> end(Session session, String role) throws TargetFailure {
        String left = "";
        for (int round = 0; round < ROUNDS; round++) {
            session.execute(round(role, round == 0 ? 0 : PATIENCE_MILLIS));
            left = String.join("", session.column("SELECT current_setting('%s')".formatted(LEFT)));
            if (left.isEmpty()) {
                return Optional.empty();
            }
        }
        return Optional.of(left);
    }
}
