package io.mintmark.keycloak;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.TimeoutError;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.console.ChromiumBrowser;
import io.mintmark.console.RunningConsole;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.development.DemoBucket;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsStandIn;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * People of a real Keycloak, in Chromium: Rita asks for access with the shell client, Alice
 * approves it in the console, Rita lists a bucket with the AWS CLI and gives the access back.
 */
class KeycloakRequestsIT {
    private static final String BUCKET = DemoBucket.PATH.substring(1);
    private static final String PROMPT = "mintmark-client: or open ";

    private static World world;
    private static KeycloakRealm realm;
    private static StsStandIn storage;
    private static String console;

    @TempDir private Path home;

    /** How a command ended, and what it wrote. */
    private record Ran(int status, String said) {}

    @BeforeAll
    static void start() {
        assumeTrue(ChromiumBrowser.installed().isPresent(), "left out: no Chromium here");
        assumeTrue(hasAwsCli(), "left out: no AWS CLI here");
        int port = RunningBroker.freePort();
        console = "http://localhost:" + port;
        realm =
                Keycloak.started()
                        .make(
                                Keycloak.started().realm("requests"),
                                "console.json",
                                Map.of("console", console, "secret", RunningConsole.SECRET));
        world = new World();
        storage =
                StsStandIn.minio(world.broker().url().toString(), world.broker()::keySet, "policy");
        storage.serve(DemoBucket.PATH, new DemoBucket());
        world.admin(tenant());
        Map<String, String> environment =
                new HashMap<>(
                        RunningConsole.environment(
                                world.database(), realm.issuer(), console, port));
        environment.put("BROKER_URL", world.broker().url().toString());
        world.database()
                .closing(
                        new ConsoleStartup(
                                        new SettingsReader(environment, Path.of("target"))
                                                .console(),
                                        CredentialTypes.byName(),
                                        InstantSource.system())
                                .run());
    }

    /** A key for the bucket that Rita may ask for and Alice may give, and nobody has. */
    private static String tenant() {
        return """
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
        VALUES ('people', 'acme', '%1$s', '{mintmark-cli}', '{subject}'),
               ('console-people', 'acme', '%1$s', '{%2$s}', '{approver}');
        INSERT INTO broker.console_access (tenant, claim, value)
        VALUES ('acme', 'email', '["alice@example.com", "rita@example.com"]');
        INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
        VALUES ('acme', 'storage', 's3-sts', '{"endpoint": "%3$s"}', '{arn:minio:iam:::role/*}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('acme', 'files', 'storage', 3600, '{"role_arn": "arn:minio:iam:::role/files"}');
        INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access)
        VALUES ('acme', 'files', 'people', '%4$s', 1, 7200);
        INSERT INTO broker.access_approver (rule, idp, subject)
        SELECT id, 'console-people', '%5$s' FROM broker.access_rule;
        """
                .formatted(
                        realm.issuer(),
                        RunningConsole.CLIENT,
                        storage.endpoint(),
                        idOf("rita"),
                        idOf("alice"));
    }

    private static String idOf(String person) {
        return realm.ask("GET", "/users?exact=true&username=" + person, "")
                .path(0)
                .path("id")
                .asText();
    }

    private static boolean hasAwsCli() {
        return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
                .splitAsStream(System.getenv("PATH"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "aws")));
    }

    @AfterAll
    static void stop() {
        if (world != null) {
            storage.close();
            world.close();
        }
    }

    @Test
    void access_is_asked_for_approved_used_and_given_back() throws Exception {
        try (ChromiumBrowser chromium = ChromiumBrowser.start()) {
            Page rita = chromium.person().newPage();
            logIn(rita);
            assertShows(list().said(), "mintmark-client request");

            Ran asked =
                    client("request", "files", "--reason", "Ticket 4711: a file", "--for", "1h");
            assertEquals(0, asked.status(), asked::said);
            String id = world.value("SELECT id::text FROM broker.access_request");
            assertEquals(1, list().status());

            Page alice = chromium.person().newPage();
            alice.navigate(console + "/requests");
            signIn(alice, "alice");
            alice.locator("#r-" + id + " input[name=note]").fill("for the ticket");
            choose(alice, id, "approve");
            assertShows(alice.locator("#r-" + id).innerText(), "granted");

            Ran listed = list();
            assertEquals(0, listed.status(), listed::said);
            assertShows(listed.said(), "hello.txt");

            rita.navigate(console + "/requests");
            signIn(rita, "rita"); // Keycloak ended her browser's session for the offline token
            choose(rita, id, "withdraw");
            Ran refused = list();
            assertEquals(1, refused.status(), refused::said);
            assertLogged(id);
        }
    }

    private static void assertLogged(String id) {
        world.assertRows(
                "SELECT idp || ' ' || subject || ' ' || status FROM broker.access_request",
                "people %s withdrawn".formatted(idOf("rita")));
        world.assertRows(
                "SELECT idp || ' ' || subject || ' ' || note FROM broker.access_decision WHERE request = '%s'"
                        .formatted(id),
                "console-people %s for the ticket".formatted(idOf("alice")));
        world.assertRows(
                "SELECT kind FROM audit.event WHERE key = 'files' AND kind <> 'requested'"
                        + " ORDER BY mint_id",
                "denied",
                "denied",
                "issued",
                "denied");
    }

    /** Logs the shell client in as Rita: she confirms its code in her browser. */
    private void logIn(Page rita) throws Exception {
        Process login = started("login");
        BufferedReader lines = login.inputReader();
        String line = lines.readLine();
        while (line != null && !line.startsWith(PROMPT)) {
            line = lines.readLine();
        }
        assertShows(String.valueOf(line), PROMPT);
        rita.navigate(line.substring(PROMPT.length()));
        signIn(rita, "rita");
        click(rita, "[name=accept]");
        String said = lines.readAllAsString();
        assertEquals(0, login.waitFor(), () -> said + rita.content());
    }

    private static void signIn(Page page, String person) {
        page.locator("input[name=username]").fill(person);
        page.locator("input[name=password]").fill(person + "-password");
        click(page, "[type=submit]");
    }

    private static void click(Page page, String button) {
        try {
            page.locator(button).click();
        } catch (TimeoutError e) {
            throw new AssertionError(page.url() + ": " + page.content(), e);
        }
    }

    private static void choose(Page page, String id, String verdict) {
        click(page, "#r-%s button[value=%s]".formatted(id, verdict));
        page.waitForURL(url -> url.endsWith("/requests/" + id));
    }

    /** Mints, and lists the bucket with the AWS CLI. */
    private Ran list() throws Exception {
        return client(
                "exec",
                "files",
                "--",
                "sh",
                "-c",
                """
                AWS_ACCESS_KEY_ID=$MINIO_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$MINIO_SECRET_KEY \
                AWS_SESSION_TOKEN=$MINIO_SESSION_TOKEN AWS_DEFAULT_REGION=us-east-1 \
                exec aws --endpoint-url "$MINIO_ENDPOINT" s3 ls s3://%s/
                """
                        .formatted(BUCKET));
    }

    private Ran client(String... arguments) throws Exception {
        Process process = started(arguments);
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), said);
    }

    private Process started(String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "sh",
                                Path.of("src", "clients", "mintmark-client")
                                        .toAbsolutePath()
                                        .toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .putAll(
                        Map.of(
                                "MINTMARK_URL", world.broker().url().toString(),
                                "MINTMARK_ISSUER", realm.issuer(),
                                "MINTMARK_CLIENT_ID", "mintmark-cli",
                                "XDG_STATE_HOME", home.toString()));
        return builder.start();
    }
}
