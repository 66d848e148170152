package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** The agent as Azure's managed identity and as Google's metadata server. */
@Tag("heavy")
class AgentDoorsTest {
    private static final String TOKEN =
            "/computeMetadata/v1/instance/service-accounts/default/token?scopes=a";
    private static final String PROJECT = "/computeMetadata/v1/project/project-id";
    private static final String FLAVOR = "Metadata-Flavor: Google";

    @AutoClose private final StandIn broker = new StandIn();
    private final Map<String, String> variables = new HashMap<>();
    private Process agent;

    @BeforeEach
    void start() throws IOException {
        Assumptions.assumeTrue(
                Shell.installed().findAny().isPresent()
                        && Shell.find("python3").isPresent()
                        && Files.exists(Path.of("/proc/net/tcp")),
                "no python3, curl or jq, or not Linux");
        agent = client().start("agent", "--azure", "entra", "--google=cloud");
        BufferedReader lines = agent.inputReader();
        for (int i = 0; i < 4; i++) {
            String[] line = lines.readLine().split("=", 2);
            variables.put(line[0], line[1]);
        }
    }

    @AfterEach
    void stop() {
        if (agent != null) {
            agent.destroy();
        }
    }

    private String variable(String name) {
        return Objects.requireNonNull(variables.get(name), name);
    }

    private ClientProcess client() {
        return ClientProcess.under(Shell.installed().findFirst().orElseThrow())
                .with("MINTMARK_URL", broker.url())
                .with("MINTMARK_TOKEN", "an.identity.token");
    }

    private void issues(String key, String members, int seconds) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        broker.says(
                "/credentials/mint",
                200,
                """
                {"credentials": {"%s": %s}, "expiresAt": "%s", "issuedAt": "%s", "subject": "s"}
                """
                        .formatted(key, members, now.plusSeconds(seconds), now));
    }

    private static String jwtFor(String audience) {
        return ClientProcess.token(Map.of("aud", audience));
    }

    private String azure(String query, String secret) {
        String endpoint = variable("IDENTITY_ENDPOINT");
        String path = endpoint.replaceFirst("http://[^/]*", "");
        return get(path + query, "X-IDENTITY-HEADER: " + secret);
    }

    private String get(String path, String header) {
        String host = variable("GCE_METADATA_HOST");
        return Unchecked.call(() -> {
            try (Socket socket =
                    new Socket(
                            InetAddress.ofLiteral("127.0.0.1"),
                            Integer.parseInt(host.substring(host.indexOf(':') + 1)))) {
                socket.getOutputStream()
                        .write(
                                "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n"
                                        .formatted(path, host, header)
                                        .getBytes(StandardCharsets.ISO_8859_1));
                return new String(
                        socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        });
    }

    private static void assertStatus(int status, String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
    }

    @Test
    void azures_libraries_get_a_token_with_its_end_by_this_clock() {
        String token = jwtFor("https://vault.azure.net");
        issues("entra", "{\"AZURE_ACCESS_TOKEN\": \"%s\"}".formatted(token), 1800);
        String secret = variable("IDENTITY_HEADER");
        String answer = azure("?resource=https://vault.azure.net/&api-version=2019-08-01", secret);
        assertStatus(200, answer);
        assertTrue(answer.contains("\"access_token\": \"" + token + "\""), answer);
        long end = Long.parseLong(answer.replaceAll("(?s).*\"expires_on\": \"(\\d+)\".*", "$1"));
        assertTrue(Math.abs(end - Instant.now().getEpochSecond() - 1800) < 60, answer);
        azure("?resource=https://vault.azure.net", secret);
        assertEquals(1, broker.asked().size());
    }

    @Test
    void a_token_for_another_resource_is_refused_in_words() {
        issues(
                "entra",
                "{\"AZURE_ACCESS_TOKEN\": \"%s\"}".formatted(jwtFor("https://vault.azure.net")),
                1800);
        String secret = variable("IDENTITY_HEADER");
        String answer = azure("?resource=https://storage.azure.com/", secret);
        assertStatus(400, answer);
        assertTrue(answer.contains("Key entra is for https://vault.azure.net"), answer);
        assertStatus(400, azure("", secret));
    }

    @Test
    void azures_door_needs_the_token_of_the_agent() {
        issues("entra", "{\"AZURE_ACCESS_TOKEN\": \"a\"}", 1800);
        assertStatus(401, azure("?resource=a", "wrong"));
        assertStatus(401, azure("?resource=a", "x\r\nX-IDENTITY-HEADER: y"));
        assertEquals(0, broker.asked().size());
    }

    @Test
    void googles_libraries_get_a_token_and_the_project() {
        issues(
                "cloud",
                "{\"GOOGLE_OAUTH_ACCESS_TOKEN\": \"ya29.a\", \"GOOGLE_PROJECT_ID\": \"acme-prod\"}",
                1800);
        String answer = get(TOKEN, FLAVOR);
        assertStatus(200, answer);
        assertTrue(answer.contains("Metadata-Flavor: Google"), answer);
        assertTrue(answer.contains("\"access_token\": \"ya29.a\""), answer);
        assertTrue(answer.matches("(?s).*\"expires_in\": 1[78]\\d\\d}"), answer);
        assertTrue(get(PROJECT, FLAVOR).endsWith("\r\n\r\nacme-prod"));
        assertTrue(get("/", FLAVOR).contains("computeMetadata/"));
        assertEquals(1, broker.asked().size());
        assertStatus(404, get("/computeMetadata/v1/instance/id", FLAVOR));
    }

    /** Pages in a browser, and proxies, cannot send the header. */
    @Test
    void googles_door_needs_the_vendors_header() {
        issues("cloud", "{\"GOOGLE_OAUTH_ACCESS_TOKEN\": \"ya29.a\"}", 1800);
        assertStatus(403, get(TOKEN, "Metadata-Flavor: other"));
        assertStatus(403, get(TOKEN, "Accept: */*"));
        assertEquals(0, broker.asked().size());
    }

    @Test
    void googles_door_is_closed_to_another_user() throws Exception {
        Assumptions.assumeTrue(
                Shell.find("setpriv").isPresent() && "root".equals(System.getProperty("user.name")),
                "only root can be another user");
        issues("cloud", "{\"GOOGLE_OAUTH_ACCESS_TOKEN\": \"ya29.a\"}", 1800);
        String url = "http://" + variable("GCE_METADATA_HOST") + TOKEN;
        String[] call = {"curl", "--silent", "--header", FLAVOR, url};
        assertTrue(run(call).out().contains("ya29.a"));
        Ended other =
                run(
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        "curl",
                        "--silent",
                        "--header",
                        FLAVOR,
                        url);
        assertTrue(other.out().contains("for processes of the user who started it"), other.out());
        assertFalse(other.out().contains("ya29.a"), other.out());
    }

    private static Ended run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).start();
        process.getOutputStream().close();
        return ClientProcess.await(process);
    }

    @Test
    void an_agent_for_others_serves_nothing_to_aws() {
        assertFalse(variables.containsKey("AWS_CONTAINER_CREDENTIALS_FULL_URI"));
        assertStatus(403, get("/deploy", "Authorization: " + variable("IDENTITY_HEADER")));
        assertEquals(0, broker.asked().size());
    }

    @Test
    void options_that_do_not_fit_together_are_refused() {
        assertEquals(2, client().run("agent", "--azure", "a", "--write", "unused", "k").exit());
        assertEquals(2, client().run("agent", "--azure", "a b").exit());
        assertEquals(2, client().run("agent", "--azure", "a", "--token-file", "unused").exit());
    }
}
