package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The credential helpers of git and docker. */
class CredentialHelpersTest {
    private static final Path FOLDER = Objects.requireNonNull(ClientProcess.FILE.getParent());

    @TempDir Path directory;
    private final StandIn broker = new StandIn();

    @BeforeEach
    void start() {
        Assumptions.assumeTrue(Shell.installed().findAny().isPresent(), "no curl or jq");
        broker.mints(
                "a",
                "{\"GITHUB_TOKEN\": \"ghs_1\", \"GITHUB_TOKEN_EXPIRY\": \"2026-01-01T00:10:00Z\"}");
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private Ended run(String input, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().put("PATH", FOLDER + ":" + Shell.SEARCH_PATH);
        builder.environment().put("HOME", directory.toString());
        builder.environment().put("MINTMARK_URL", broker.url());
        builder.environment().put("MINTMARK_TOKEN", "an.identity.token");
        builder.environment().put("GIT_TERMINAL_PROMPT", "0");
        Process process = builder.start();
        try (var in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        return ClientProcess.await(process);
    }

    @Test
    void git_gets_a_user_and_a_password_for_its_hosts() throws IOException {
        Assumptions.assumeTrue(Shell.find("git").isPresent(), "no git");
        String[] command = {
            "git", "-c", "credential.https://github.com.helper=mintmark a", "credential", "fill"
        };
        Ended ended = run("protocol=https\nhost=github.com\n\n", command);
        assertEquals(0, ended.exit(), ended.err());
        assertTrue(ended.out().contains("username=x-access-token\npassword=ghs_1\n"), ended.out());
        assertEquals(1, broker.asked().size());
        run("protocol=https\nhost=other.example\n\n", command);
        assertEquals(1, broker.asked().size(), "another host got a credential");
    }

    @Test
    void gits_helper_says_until_when_and_takes_a_user() throws IOException {
        Ended ended =
                run(
                        "protocol=https\nhost=x\n\n",
                        FOLDER + "/git-credential-mintmark",
                        "a",
                        "oauth2",
                        "get");
        assertEquals(
                "username=oauth2\npassword=ghs_1\npassword_expiry_utc=1767226200\n", ended.out());
        for (String operation : new String[] {"store", "erase"}) {
            assertEquals(0, run("", FOLDER + "/git-credential-mintmark", "a", operation).exit());
        }
        assertEquals(1, broker.asked().size());
    }

    @Test
    void a_token_with_a_line_feed_never_reaches_git() throws IOException {
        broker.mints("a", "{\"GITHUB_TOKEN\": \"ghs_1\\n\"}");
        String[] get = {FOLDER + "/git-credential-mintmark", "a", "get"};
        assertEquals(0, run("protocol=https\nhost=x\n\n", get).exit());
        Ended ended = run("protocol=https\nhost=x\n\n", get);
        assertEquals(2, ended.exit());
        assertEquals("", ended.out());
    }

    @Test
    void gits_helper_sends_no_password_over_plain_http() throws IOException {
        Ended ended =
                run("protocol=http\nhost=x\n\n", FOLDER + "/git-credential-mintmark", "a", "get");
        assertEquals(2, ended.exit());
        assertEquals(0, broker.asked().size());
    }

    @Test
    void docker_gets_the_key_of_a_registry() throws IOException {
        Path config =
                Files.createDirectories(directory.resolve(".config/mintmark")).resolve("docker");
        Files.writeString(config, "ghcr.io a\nregistry.example.com a deploy\n");
        Ended ended = run("ghcr.io\n", FOLDER + "/docker-credential-mintmark", "get");
        assertEquals(0, ended.exit(), ended.err());
        assertEquals(
                "{\"ServerURL\":\"ghcr.io\",\"Secret\":\"ghs_1\",\"Username\":\"x-access-token\"}",
                ended.out().replaceAll("\\s", ""));
        ended =
                run(
                        "https://registry.example.com/v1/",
                        FOLDER + "/docker-credential-mintmark",
                        "get");
        assertTrue(ended.out().contains("\"deploy\""), ended.toString());
        broker.mints("a", "{\"REGISTRY_USER\": \"mint-1\", \"REGISTRY_PASSWORD\": \"p\"}");
        run("ghcr.io\n", FOLDER + "/docker-credential-mintmark", "get");
        ended = run("ghcr.io\n", FOLDER + "/docker-credential-mintmark", "get");
        assertTrue(ended.out().contains("\"mint-1\""), ended.toString());
        ended = run("other.example\n", FOLDER + "/docker-credential-mintmark", "get");
        assertEquals(1, ended.exit());
        assertEquals("credentials not found in native keychain\n", ended.out());
    }
}
