package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A tenant whose rules are as costly as rows may be. */
class CostlyRulesTest {
    /**
     * As many globs as a tenant may have, but one, that nearly match a subject of the greatest
     * length, star by star.
     */
    static final String WORST_GLOBS =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
            SELECT 'acme', 'ci', 'a:*a*a*a*a*a*a*b' || n || '**', 'glob', 'api'
              FROM generate_series(1, 999) AS n
            """;

    static final String LONGEST_SUBJECT = "a:" + "a".repeat(1_022);

    @Test
    void is_refused_for_the_requests_that_are_too_much_work_and_serves_the_others() {
        try (World world = new World()) {
            Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
            world.admin(WORST_GLOBS);
            String costly = world.issuer().sign(LONGEST_SUBJECT, World.AUDIENCE);
            Eventually.holds(() -> world.broker().keys(costly).status() == 503);
            Answer answer = world.broker().mint(costly, "api");
            assertEquals("503 SERVICE_UNAVAILABLE ", answer.verdict());
            assertTrue(answer.body().path("message").asText().contains("rules of tenant 'acme'"));
            assertEquals(200, world.broker().mint(world.token(), "api").status());
        }
    }
}
