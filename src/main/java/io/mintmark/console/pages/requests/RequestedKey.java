package io.mintmark.console.pages.requests;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * What the key of a pending request gives now, which an approver reads.
 *
 * @param target at the provider, such as a role
 * @param settings of the key, all of them, in JSON
 * @param maxDuration the longest lifetime of a credential, in seconds
 * @param outputs the names of what a client gets
 * @param revisions of the rule, the key and the access provider, in JSON, for the decision to name
 */
record RequestedKey(
        String provider,
        String type,
        Optional<String> target,
        String settings,
        long maxDuration,
        List<String> outputs,
        String revisions) {

    /** Columns for a request {@code p}, of which all are null if it isn't pending. */
    static final String COLUMNS =
            """
            content.gives ->> 'provider' AS provider, content.gives ->> 'type' AS type, content.gives ->> 'target' AS target,
            content.gives ->> 'settings' AS settings, cast(content.gives ->> 'maxDuration' AS bigint) AS max_duration,
            ARRAY(SELECT jsonb_array_elements_text(content.gives -> 'outputs')) AS outputs, content.revisions
            """;

    static Optional<RequestedKey> of(ResultSet row) throws SQLException {
        Optional<String> provider = Query.text(row, "provider");
        return provider.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new RequestedKey(
                                provider.get(),
                                row.getString("type"),
                                Query.text(row, "target"),
                                row.getString("settings"),
                                row.getLong("max_duration"),
                                Query.texts(row, "outputs"),
                                row.getString("revisions")));
    }

    /** What the key gives, in words. */
    String words() {
        return "%s%s (%s), each credential for up to %s: %s"
                .formatted(
                        target.map(named -> named + " at ").orElse(""),
                        provider,
                        type,
                        Frame.seconds(maxDuration),
                        String.join(", ", outputs));
    }
}
