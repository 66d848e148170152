package io.mintmark.console.pages.proof;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Query;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.Visibility;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The last checkpoints in the format of {@code audit verify --checkpoints}. If there are more, the
 * last line says where the list ends.
 */
public final class CheckpointsFile implements Handler {
    private static final int MOST = 5_000;

    /** The maximum size of the file, because a checkpoint of very many chains is long. */
    private static final long MOST_BYTES = 16 << 20;

    private static final String LATEST =
            """
            SELECT s.number, s.sealed_at, s.jws, s.announced_by
              FROM (SELECT c.number, c.sealed_at, c.jws, c.announced_by,
                           sum(octet_length(c.jws)) OVER (ORDER BY c.number DESC) - octet_length(c.jws) AS before_it
                      FROM (SELECT n.* FROM audit.checkpoint AS n
                             WHERE n.number < ? ORDER BY n.number DESC LIMIT ?) AS c) AS s
             WHERE s.before_it < ?
             ORDER BY s.number DESC
            """;

    private final ViewerDatabase database;
    private final Rendering rendering;
    private final InstantSource clock;

    /**
     * The file at {@code /proof/checkpoints}.
     *
     * @param rendering of the refusal that viewers of single tenants get
     */
    public CheckpointsFile(ViewerDatabase database, Rendering rendering, InstantSource clock) {
        this.database = database;
        this.rendering = rendering;
        this.clock = clock;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        long before = new Parameters(request).number("before").orElse(Long.MAX_VALUE);
        Optional<List<SignedCheckpoint>> found =
                database.read(
                        Rendering.viewer(request),
                        connection ->
                                Visibility.seesAll(connection)
                                        ? Optional.of(latest(connection, before))
                                        : Optional.empty());
        if (found.isEmpty()) {
            rendering.answer((_, _, _) -> ProofPage.onlyForAll(), request, response);
            return;
        }
        response.header(HeaderNames.CONTENT_TYPE, "application/jsonl; charset=utf-8")
                .header(
                        HeaderNames.CONTENT_DISPOSITION,
                        "attachment; filename=\"%s\"".formatted(name(clock.instant())))
                .send(lines(found.get()).getBytes(StandardCharsets.UTF_8));
    }

    /** The name of the file at a time. */
    static String name(Instant now) {
        return "checkpoints-%s.jsonl".formatted(LocalDate.ofInstant(now, ZoneOffset.UTC));
    }

    private static List<SignedCheckpoint> latest(Connection connection, long before)
            throws SQLException {
        return Query.of(LATEST, before, MOST, MOST_BYTES)
                .list(
                        connection,
                        row ->
                                new SignedCheckpoint(
                                        row.getLong("number"),
                                        Query.time(row, "sealed_at"),
                                        row.getString("jws"),
                                        Query.text(row, "announced_by")));
    }

    /** Checkpoints count from 1, without gaps. */
    private static String lines(List<SignedCheckpoint> found) {
        Stream<String> end =
                found.isEmpty() || found.getLast().number() == 1
                        ? Stream.of()
                        : Stream.of(
                                "there are more checkpoints before number "
                                        + found.getLast().number());
        return Stream.concat(found.stream().map(SignedCheckpoint::line), end)
                .map(line -> line + "\n")
                .collect(Collectors.joining());
    }
}
