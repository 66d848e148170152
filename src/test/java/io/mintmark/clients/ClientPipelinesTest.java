package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Where the shell client takes its token from in pipelines. */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientPipelinesTest {
    @TempDir Path directory;

    @AutoClose
    private final StandIn far = new StandIn().mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");

    private final ClientProcess client;

    ClientPipelinesTest(Shell shell) {
        this.client = ClientProcess.under(shell).with("MINTMARK_URL", far.url());
    }

    private ClientProcess onGitHub() {
        return client.with("GITHUB_ACTIONS", "true")
                .with("MINTMARK_AUDIENCE", "https://a b&c")
                .with("ACTIONS_ID_TOKEN_REQUEST_URL", far.url() + "/token?api-version=2.0")
                .with("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "runner.request.token");
    }

    private String presented() {
        return far.asked().getLast().header("Authorization").orElseThrow();
    }

    private static void assertSays(int exit, String message, Ended ended) {
        assertTrue(ended.err().contains(message), ended.err());
        assertEquals(exit, ended.exit());
    }

    @Test
    void github_is_asked_for_a_token_for_the_audience() {
        far.says("/token", 200, "{\"count\": 1, \"value\": \"git.hub.token\"}");
        assertEquals(0, onGitHub().run("get", "deploy").exit());
        StandIn.Asked asked = far.asked().getFirst();
        assertEquals("/token?api-version=2.0&audience=https%3A%2F%2Fa%20b%26c", asked.target());
        assertEquals("Bearer runner.request.token", asked.header("Authorization").orElseThrow());
        assertEquals("Bearer git.hub.token", presented());
    }

    @Test
    void github_needs_a_permission_and_an_audience() {
        assertSays(
                2,
                "add 'permissions: {id-token: write}'",
                onGitHub().without("ACTIONS_ID_TOKEN_REQUEST_URL").run("get", "deploy"));
        assertSays(
                2,
                "MINTMARK_AUDIENCE is not set",
                onGitHub().without("MINTMARK_AUDIENCE").run("get", "deploy"));
    }

    @Test
    void a_token_service_that_gives_none_ends_it() {
        far.says("/token", 403, "{}").says("/token", 200, "{\"value\": \"no token\\n\"}");
        assertSays(1, "GitHub's token service refused: HTTP 403", onGitHub().run("get", "deploy"));
        assertSays(2, "holds no token", onGitHub().run("get", "deploy"));
        assertEquals(2, far.asked().size());
    }

    @Test
    void buildkites_agent_is_asked() throws IOException {
        Path agent = directory.resolve("buildkite-agent");
        Files.writeString(
                agent,
                "#!/bin/sh\n"
                        + "[ \"$*\" = 'oidc request-token --audience mintmark --claim"
                        + " organization_id --claim pipeline_id' ] && echo"
                        + " build.kite.token\n");
        Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
        client.with("BUILDKITE", "true")
                .with("MINTMARK_AUDIENCE", "mintmark")
                .with("PATH", directory + ":" + Shell.SEARCH_PATH);
        assertEquals(0, client.run("get", "deploy").exit());
        assertEquals("Bearer build.kite.token", presented());
        assertSays(
                1,
                "'buildkite-agent oidc request-token' failed",
                client.with("MINTMARK_AUDIENCE", "other").run("get", "deploy"));
    }

    @Test
    void gitlab_gives_its_jobs_a_variable() {
        client.with("GITLAB_CI", "true");
        assertSays(2, "'id_tokens: {MINTMARK_TOKEN: {aud: AUDIENCE}}'", client.run("keys"));
        assertEquals(0, client.with("MINTMARK_TOKEN", "git.lab.token").run("get", "deploy").exit());
        assertEquals("Bearer git.lab.token", presented());
    }

    @Test
    void what_was_given_goes_before_the_pipelines() throws IOException {
        Path file = directory.resolve("token");
        Files.writeString(file, "from.a.file\r\n");
        onGitHub().with("MINTMARK_TOKEN_FILE", file.toString());
        assertEquals(0, client.run("get", "deploy").exit());
        assertEquals("Bearer from.a.file", presented());
        assertEquals(
                0, client.with("MINTMARK_TOKEN", "a.variable.token").run("get", "deploy").exit());
        assertEquals("Bearer a.variable.token", presented());
    }
}
