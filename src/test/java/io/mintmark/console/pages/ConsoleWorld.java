package io.mintmark.console.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.mintmark.Unchecked;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.PatientViewers;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.verification.Proof;
import io.mintmark.provider.types.CredentialTypes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The pages on a port of their own, for viewers whose claims a header says. */
public final class ConsoleWorld implements AutoCloseable {
    public static final Viewer AUDITOR =
            new Viewer("audrey@audit.example", "{\"role\": \"auditor\"}");
    public static final Viewer LEAD =
            new Viewer("lena@acme.example", "{\"groups\": [\"acme-leads\"]}");
    public static final Viewer OTHER_LEAD =
            new Viewer("gil@globex.example", "{\"groups\": [\"globex-leads\"]}");

    /** As the guarded port has it. */
    private static final int LONGEST_LINE = 20 * 1024;

    private static final HeaderName VIEWER = HeaderNames.create("X-Viewer");
    private static final Map<String, Viewer> VIEWERS =
            Map.of("auditor", AUDITOR, "lead", LEAD, "other", OTHER_LEAD);

    private final ViewerDatabase viewers;
    private final WebServer server;
    private final Set<String> paths;
    private final HttpClient client = HttpClient.newHttpClient();

    public ConsoleWorld(DatabaseLogin login, Optional<Supplier<TrustedKeys>> keys) {
        this(login, keys, InstantSource.system());
    }

    public ConsoleWorld(
            DatabaseLogin login, Optional<Supplier<TrustedKeys>> keys, InstantSource clock) {
        this(login, keys, List.of(), clock);
    }

    /** A console that knows the consoles of other cells. */
    ConsoleWorld(
            DatabaseLogin login,
            Optional<Supplier<TrustedKeys>> keys,
            List<URI> otherCells,
            InstantSource clock) {
        this.viewers = PatientViewers.of(login, 4);
        Proof proof =
                new Proof(
                        viewer -> PostgresLog.asViewer(login, TestDatabase.ROLES, viewer.claims()),
                        result -> result.record(login),
                        keys,
                        clock);
        Pages pages =
                new Pages(
                        viewers,
                        proof,
                        CredentialTypes.byName(),
                        Optional.empty(),
                        otherCells,
                        clock);
        this.paths = pages.paths();
        this.server =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .protocolsDiscoverServices(false)
                        .addConnectionSelector(
                                Http1ConnectionSelector.builder()
                                        .config(
                                                Http1Config.builder()
                                                        .maxPrologueLength(LONGEST_LINE)
                                                        .build())
                                        .build())
                        .host("127.0.0.1")
                        .routing(routing -> {
                            routing.addFilter((chain, request, _) -> {
                                request.headers()
                                        .first(VIEWER)
                                        .map(VIEWERS::get)
                                        .ifPresent(request.context()::register);
                                chain.proceed();
                            });
                            pages.register(routing);
                        })
                        .build()
                        .start();
    }

    /** A database with two tenants, and a day of their mints and refusals. */
    public static TestDatabase filled() {
        TestDatabase database = TestDatabase.migrated();
        database.admin(script("world.sql"));
        database.run(Who.APP, script("events.sql"));
        return database;
    }

    /** The pages of a database, until it is closed. */
    public static ConsoleWorld of(TestDatabase database) {
        return database.closing(new ConsoleWorld(database.login(Who.CONSOLE), Optional.empty()));
    }

    /** The latest mint or refusal of a condition. */
    public static String mint(TestDatabase database, String condition) {
        return database.value(
                "SELECT mint_id FROM audit.event WHERE %s ORDER BY mint_id DESC LIMIT 1"
                        .formatted(condition));
    }

    /** Another refusal like one that there is. */
    public static void refusedFor(TestDatabase database, String reason, int number) {
        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                                         reason, claims, broker, chain, seq, prev_hash, hash)
                SELECT (left(mint_id::text, 24) || lpad('%1$d', 12, '0'))::uuid, step, kind, occurred_at, request_id, tenant,
                       idp, issuer, subject, key, '%2$s', claims, broker,
                       '1.run', %1$d, sha256('before'), sha256('%2$s')
                  FROM audit.event WHERE kind = 'denied' AND tenant = 'acme' ORDER BY mint_id LIMIT 1
                """
                        .formatted(number, reason));
    }

    public static String script(String name) {
        return Unchecked.call(() -> Files.readString(Path.of("src/test/resources/console", name)));
    }

    /** The paths of all pages. */
    Set<String> paths() {
        return paths;
    }

    public URI url(String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path));
    }

    /** The page as somebody sees it. */
    public HttpResponse<String> get(String viewer, String path) {
        return send(HttpRequest.newBuilder(url(path)).header("X-Viewer", viewer).build());
    }

    /** With a client of its own, since the body that the guarded port leaves out comes here. */
    public HttpResponse<Void> head(String viewer, String path) {
        HttpRequest request =
                HttpRequest.newBuilder(url(path)).header("X-Viewer", viewer).HEAD().build();
        try (HttpClient own = HttpClient.newHttpClient()) {
            return own.send(request, BodyHandlers.discarding());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What is answered where a page is, as somebody sees it. */
    public String page(String viewer, String path) {
        HttpResponse<String> answer = get(viewer, path);
        assertEquals(200, answer.statusCode(), path + "\n" + answer.body());
        return answer.body();
    }

    /** Where an address sends an auditor to. */
    public String leadsTo(String path) {
        HttpResponse<String> answer = get("auditor", path);
        assertEquals(303, answer.statusCode(), path);
        return answer.headers().firstValue("Location").orElseThrow();
    }

    HttpResponse<String> getIfChanged(String path, String tag) {
        return send(HttpRequest.newBuilder(url(path)).header("If-None-Match", tag).build());
    }

    public HttpResponse<String> post(String viewer, String path) {
        return send(
                HttpRequest.newBuilder(url(path))
                        .header("X-Viewer", viewer)
                        .POST(BodyPublishers.noBody())
                        .build());
    }

    /** A form of a page, as somebody submits it. */
    public HttpResponse<String> submit(String viewer, String path, String form) {
        return send(
                HttpRequest.newBuilder(url(path))
                        .header("X-Viewer", viewer)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form))
                        .build());
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        server.stop();
        viewers.close();
    }
}
