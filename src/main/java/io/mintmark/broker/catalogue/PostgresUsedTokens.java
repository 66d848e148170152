package io.mintmark.broker.catalogue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.UsedTokens;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** One-time tokens that were used, in a table that all replicas share. */
public final class PostgresUsedTokens implements UsedTokens {
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final String USE =
            """
            INSERT INTO work.used_token (idp, token_id, usable_until)
            VALUES (:idp, :token_id, cast(:until AS timestamptz))
                ON CONFLICT (idp, token_id) DO NOTHING
            """;
    private static final String FORGET =
            """
            DELETE FROM work.used_token
             WHERE usable_until < now() - interval '1 hour'
            """;

    private final Queries queries;

    public PostgresUsedTokens(Database database) {
        this.queries = database.reading();
    }

    @Override
    public boolean use(IdpName idp, String tokenId, Instant until) {
        try {
            return queries.change(
                            USE,
                            Map.of(
                                    "idp", idp.value(),
                                    "token_id", tokenId,
                                    "until", until.toString()))
                    == 1;
        } catch (QueryFailed e) {
            throw new Unavailable(
                    Unavailable.Part.DATABASE,
                    "The broker could not check whether this token was used before; try again.",
                    SOON,
                    e);
        }
    }

    /**
     * Forgets tokens that no replica would accept any more: by the database's clock, which none of
     * them differs from by as much as an hour.
     */
    public void forget() {
        queries.change(FORGET, Map.of());
    }
}
