package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The latest checkpoint of the log, for a start that is going to add the next one. */
public final class LastSeal {
    private static final String SIGNED =
            "SELECT jws FROM log.checkpoint ORDER BY number DESC LIMIT 1";

    private static final String HEADERS =
            "SELECT DISTINCT split_part(jws, '.', 1) AS header FROM log.checkpoint";

    private final Queries queries;

    public LastSeal(Database database) {
        this.queries = database.reading();
    }

    /**
     * The thumbprint of the key that signed it; empty if the log was never sealed.
     *
     * @throws DatabaseUnfit if the database can't be asked
     */
    public Optional<String> signer() {
        try {
            List<String> last =
                    queries.query(SIGNED, Map.of(), row -> row.column("jws").get(String.class));
            return last.stream().findFirst().map(SignedCheckpoint::signer);
        } catch (QueryFailed e) {
            throw DatabaseUnfit.because(e);
        }
    }

    /**
     * The thumbprints of all keys that ever sealed the log. Reads every checkpoint.
     *
     * @throws DatabaseUnfit if the database can't be asked
     */
    public Set<String> signers() {
        try {
            return queries
                    .query(HEADERS, Map.of(), row -> row.column("header").get(String.class))
                    .stream()
                    .map(SignedCheckpoint::signer)
                    .collect(Collectors.toUnmodifiableSet());
        } catch (QueryFailed e) {
            throw DatabaseUnfit.because(e);
        }
    }
}
