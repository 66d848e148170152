package io.mintmark.audit.log;

import io.mintmark.Unchecked;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A database with many rows, most of them old, and all that the program does again and again on it:
 * timers, requests, edits, exports, pages. PostgreSQL counts what each statement costs.
 */
final class ScaledInstallation implements AutoCloseable {
    static final String PAGE = "page";
    static final String ALL_ROWS = "a question about all rows";

    private static final int TIMES = 3;

    private static final String COSTS =
            """
            SELECT regexp_replace(s.query, '\\s+', ' ', 'g') AS query, sum(s.calls) AS calls, sum(s.total_exec_time) AS millis,
                   sum(s.shared_blks_hit + s.shared_blks_read) AS blocks, sum(s.rows) AS rows
              FROM pg_stat_statements AS s JOIN pg_roles AS r ON r.oid = s.userid
             WHERE r.rolname <> 'postgres'
             GROUP BY 1
            """;

    private static final String ASKING =
            """
            INSERT INTO broker.tenant (name) VALUES ('asking');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('asking-ci', 'asking', '{issuer}', '{asking}');
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('asking', 'own', 'jwt');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('asking', 'key', 'own', 600, '{"audience": "https://api.example.com"}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('asking', 'asking-ci', 'ci:main', 'key');
            """;

    private static final String EDIT =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key)
            VALUES ('asking', 'asking-ci', 'ci:edited', 'key');
            UPDATE broker.subject_grant SET enabled = false WHERE tenant = 'asking' AND subject = 'ci:edited';
            DELETE FROM broker.subject_grant WHERE tenant = 'asking' AND subject = 'ci:edited';
            """;

    /** What operators ask, as docs say. */
    private static final List<String> QUESTIONS =
            List.of(
                    "SELECT * FROM broker.lint WHERE tenant = 'tenant-3'",
                    "SELECT * FROM audit.denial ORDER BY mint_id DESC LIMIT 100",
                    "SELECT * FROM audit.mint WHERE tenant = 'tenant-3' ORDER BY mint_id DESC LIMIT 100",
                    "SELECT * FROM audit.mint WHERE mint_id >= audit.first_mint_id(now() - interval '1 minute')");

    private final List<Cost> costs = new ArrayList<>();
    private final EmbeddedPostgres server;
    private final SqlRunner superuser;
    private final IssuerStandIn issuer = IssuerStandIn.start();

    /**
     * What a statement cost.
     *
     * @param what what it was run for
     * @param statement its text, with numbers in place of values
     * @param millis of each call, as the others
     * @param blocks that it looked at
     */
    record Cost(
            String what, String statement, long calls, double millis, double blocks, double rows) {}

    /**
     * @param grants of the tenant that has the most
     */
    ScaledInstallation(long rows, int tenants, int grants) throws IOException {
        server =
                EmbeddedServer.start(
                        EmbeddedServer.builder()
                                .setServerConfig("fsync", "off")
                                .setServerConfig("full_page_writes", "off")
                                .setServerConfig("max_wal_size", "8GB")
                                .setServerConfig("shared_preload_libraries", "pg_stat_statements"),
                        Files.createTempDirectory("mintmark-scale"));
        superuser = AuditFigures.superuser(server);
        AuditFigures.createLogins(server);
        AuditFigures.migrate(server);
        superuser.run("CREATE EXTENSION pg_stat_statements SCHEMA public");
        BulkRows bulk = new BulkRows(superuser, rows, tenants, grants);
        bulk.configure();
        bulk.fill();
        superuser.run(FigurePages.VIEWERS);
        runner(Who.ADMIN).run(ASKING.replace("{issuer}", issuer.url()));
        superuser.run("VACUUM ANALYZE");
    }

    private DatabaseLogin login(Who who) {
        return AuditFigures.login(server, who.login());
    }

    private SqlRunner runner(Who who) {
        return () -> server.getDatabase(who.login(), "postgres").getConnection();
    }

    /**
     * Does all of it, and says what each statement cost.
     *
     * @param pages whether the console's too
     */
    List<Cost> run(boolean pages) throws Exception {
        start().close(); // the first seals all rows
        try (RunningBroker broker = startMeasured()) {
            measured("polls of 3 seconds", () -> TimeUnit.SECONDS.sleep(3));
            serve(broker);
        }
        seal();
        export();
        for (String question : QUESTIONS) {
            measured("an admin's question", () -> runner(Who.ADMIN).run(question));
        }
        measured(
                ALL_ROWS,
                () -> runner(Who.AUDITOR).run("SELECT sum(length(user_agent)) FROM audit.event"));
        if (pages) {
            browse();
        }
        return List.copyOf(costs);
    }

    private RunningBroker start() {
        String last = lastCheckpoint();
        RunningBroker broker = RunningBroker.at(login(Who.APP).url(), Map.of());
        Eventually.holds(() -> !lastCheckpoint().equals(last));
        return broker;
    }

    private String lastCheckpoint() {
        return superuser.value("SELECT coalesce(max(number), 0) FROM audit.checkpoint");
    }

    private void serve(RunningBroker broker) throws Exception {
        String granted = issuer.sign("ci:main", "asking");
        String stranger = issuer.sign("ci:stranger", "asking");
        measured(
                "requests",
                () -> {
                    for (int i = 0; i < TIMES; i++) {
                        require(200, broker.mint(granted, "key").status());
                        require(403, broker.mint(stranger, "key").status());
                        require(200, broker.keys(granted).status());
                    }
                });
        URI metrics =
                URI.create("http://127.0.0.1:%d/observe/metrics".formatted(broker.adminPort()));
        measured("metrics", () -> require(200, get(metrics)));
        measured(
                "an edit, and mints after it",
                () -> {
                    runner(Who.ADMIN).run(EDIT);
                    require(200, broker.mint(granted, "key").status());
                    TimeUnit.SECONDS.sleep(1);
                    require(200, broker.mint(granted, "key").status());
                });
    }

    private static void require(int expected, int status) {
        if (status != expected) {
            throw new IllegalStateException("%d instead of %d".formatted(status, expected));
        }
    }

    private static int get(URI url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(url).build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        }
    }

    private void seal() throws Exception {
        SealingKeys keys = new SealingKeys(List.of(Seals.KEY));
        try (Database app = new Database(login(Who.APP))) {
            PostgresEventStore writer = new PostgresEventStore(app, "scale");
            PostgresSeals seals = new PostgresSeals(app, "scale");
            for (boolean everything : List.of(true, false)) {
                String what =
                        everything ? "a checkpoint of each hour" : "a checkpoint of each minute";
                writer.append(AuditRows.mint("ci:main", "{}"));
                measured(
                        what,
                        () ->
                                seals.seal(
                                        everything,
                                        unsealed ->
                                                Optional.of(
                                                        keys.seal(unsealed, "scale", List.of()))));
                runner(Who.ADMIN).run(EDIT);
            }
        }
    }

    private void export() throws Exception {
        long last = Long.parseLong(lastCheckpoint());
        try (LogFeed feed = new LogFeed(login(Who.AUDITOR))) {
            var _ = feed.changeHeads(true);
            feed.release();
            runner(Who.ADMIN).run(EDIT);
            measured(
                    "a pass of an export",
                    () -> {
                        var _ = feed.eventHeads(false);
                        var _ = feed.changeHeads(false);
                        feed.checkpoints(last, _ -> {});
                    });
        }
    }

    private void browse() throws Exception {
        try (ConsoleWorld world = new ConsoleWorld(login(Who.CONSOLE), Optional.empty())) {
            for (FigurePages.Asked page : FigurePages.all(superuser)) {
                for (String viewer : List.of("auditor", page.lead())) {
                    measured(
                            "%s for %s: %s".formatted(PAGE, viewer, page.what()),
                            () -> {
                                for (int i = 0; i < TIMES; i++) {
                                    var _ = world.get(viewer, page.path());
                                }
                            });
                }
            }
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private void measured(String what, Work work) throws Exception {
        superuser.run("SELECT public.pg_stat_statements_reset()");
        work.run();
        read(what);
    }

    private RunningBroker startMeasured() throws SQLException {
        superuser.run("SELECT public.pg_stat_statements_reset()");
        RunningBroker broker = start();
        read("a start");
        return broker;
    }

    private void read(String what) throws SQLException {
        try (Connection connection = superuser.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COSTS)) {
            while (row.next()) {
                long calls = row.getLong("calls");
                costs.add(
                        new Cost(
                                what,
                                row.getString("query"),
                                calls,
                                row.getDouble("millis") / calls,
                                row.getDouble("blocks") / calls,
                                row.getDouble("rows") / calls));
            }
        }
    }

    @Override
    public void close() {
        issuer.close();
        Unchecked.run(server::close);
    }
}
