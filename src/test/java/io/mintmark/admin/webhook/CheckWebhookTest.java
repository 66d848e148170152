package io.mintmark.admin.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.ReservedPorts;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.provider.webhook.WebhookStandIn;
import io.mintmark.provider.webhook.WebhookStandIn.Fault;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import picocli.CommandLine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A service is checked that does as it should, but for one fault each. */
class CheckWebhookTest {
    private final int port = ReservedPorts.next();
    private final String issuer = "http://127.0.0.1:" + port;
    @AutoClose private final WebhookStandIn service = new WebhookStandIn(issuer, this::keySet);

    private record Said(int status, List<String> lines) {
        List<String> wrong() {
            return lines.stream().filter(line -> line.startsWith("WRONG ")).toList();
        }
    }

    @Test
    void a_service_that_does_as_it_should_passes_and_keeps_nothing() {
        Said said = check();

        assertEquals(List.of(), said.wrong());
        assertEquals(0, said.status());
        assertEquals("25 of 25 checks passed", said.lines().getLast());
        assertEquals(Set.of(), service.live());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    ANY_SIGNATURE     | PUT refuses a token with a wrong signature; PUT refuses a token with an unknown key; PUT refuses a token without a signature
                    ANY_ISSUER        | PUT refuses a token of another issuer
                    ANY_AUDIENCE      | PUT refuses a token for another audience
                    ANY_TIME          | PUT refuses an expired token; PUT refuses a token without exp
                    NOT_YET_VALID     | PUT refuses a token that is not yet valid
                    ANY_TENANT        | PUT refuses a token of another tenant
                    ANY_METHOD        | PUT refuses a token for another method (htm); DELETE refuses a token for PUT
                    ANY_ADDRESS       | PUT refuses a token for another address (htu)
                    ANY_BODY          | PUT refuses a token for another body (body_sha256)
                    NO_TOKEN          | PUT refuses a request without a token; DELETE refuses a request without a token
                    SECOND_CREDENTIAL | a repeated PUT gives the same credential, or 409
                    SECOND_ERROR      | a repeated PUT gives the same credential, or 409
                    FIXED_LIFETIME    | the credential expires at the requested time or earlier
                    DELETES_ONCE      | a repeated DELETE is accepted; DELETE of an unknown mint id is accepted; PUT after DELETE of an unknown mint id makes no credential
                    REVIVES           | PUT after DELETE makes no credential; PUT after DELETE of an unknown mint id makes no credential
                    """)
    void each_fault_is_found(Fault fault, String checks) {
        service.having(fault);

        Said said = check();

        assertEquals(1, said.status());
        assertEquals(
                List.of(checks.split("; ", -1)),
                said.wrong().stream()
                        .map(line -> line.substring("WRONG ".length(), line.indexOf(": ")))
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({"OTHER_VALUES, lacks the value 'APP_PASSWORD'", "NO_EXPIRY, no valid expiresAt"})
    void a_service_that_makes_no_credential_is_checked_no_further(Fault fault, String told) {
        service.having(fault);

        Said said = check();

        assertEquals(1, said.status());
        assertEquals(1, said.wrong().size());
        assertTrue(said.wrong().getFirst().contains(told), said.wrong()::toString);
        assertEquals("0 of 1 checks passed", said.lines().getLast());
        assertEquals(Set.of(), service.live());
    }

    @Test
    void a_service_that_is_not_there_fails() {
        service.close();

        Said said = check();

        assertEquals(1, said.status());
        assertTrue(said.wrong().getFirst().contains("can't be reached"), said.wrong()::toString);
    }

    @Test
    void wrong_usage_is_told_apart() throws IOException {
        assertEquals(2, run(service.url()).status());
        assertEquals(1, run("x", "--target", "a", "--field", "A", listen()).status());
        assertEquals(
                1,
                run(service.url(), "--target", "a", "--field", "A", "--listen", "a b:1").status());
        try (var taken = new ServerSocket(port, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            assertEquals(port, taken.getLocalPort());
            assertEquals(1, check().status());
        }
    }

    private Said check() {
        return run(
                service.url(),
                "--target",
                "registry/push",
                "--field",
                "APP_USER",
                "--field",
                "APP_PASSWORD",
                listen());
    }

    private String listen() {
        return "--listen=127.0.0.1:" + port;
    }

    private static Said run(String... arguments) {
        var out = new ByteArrayOutputStream();
        var command =
                new CommandLine(
                                new CheckWebhook(
                                        InstantSource.system(),
                                        new PrintStream(out, true, StandardCharsets.UTF_8)))
                        .setErr(
                                new PrintWriter(
                                        new ByteArrayOutputStream(), true, StandardCharsets.UTF_8))
                        .setExecutionExceptionHandler((failure, _, _) -> {
                            out.writeBytes(
                                    String.valueOf(failure.getMessage())
                                            .getBytes(StandardCharsets.UTF_8));
                            return failure instanceof CommandFailed ? 1 : 99;
                        });
        int status = command.execute(arguments);
        return new Said(
                status, new ArrayList<>(out.toString(StandardCharsets.UTF_8).lines().toList()));
    }

    private String keySet() {
        try (InputStream in = URI.create(issuer + "/.well-known/jwks.json").toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
