package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.ManualClock;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;
import io.mintmark.provider.identity.TokenOrder;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

class TokenFileIdentityTest {
    private static final TokenOrder ORDER =
            new TokenOrder(
                    new TenantName("acme"),
                    new KeyName("deploy"),
                    new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab")),
                    "https://far.example",
                    false,
                    Map.of());

    private final ManualClock clock = new ManualClock(Instant.parse("2026-07-29T12:00:00Z"));
    @AutoClose private final IssuerStandIn cluster = IssuerStandIn.start();

    @TempDir Path volume;
    private Path file;
    private TokenFileIdentity identity;

    /** As a kubelet lays a projected volume out. */
    @BeforeEach
    void mount() throws IOException {
        file = volume.resolve("token");
        project("1", token(Duration.ofHours(1)));
        Files.createSymbolicLink(file, Path.of("..data", "token"));
        identity = new TokenFileIdentity(file, clock);
    }

    @Test
    void the_token_is_the_files_without_the_line_break() {
        assertEquals(3, shown().split("\\.", -1).length);
        assertTrue(identity.shared());
        assertEquals(Optional.empty(), identity.fault());
    }

    @Test
    void a_token_that_the_platform_swaps_in_counts_at_once() throws IOException {
        String before = shown();
        String next = token(Duration.ofHours(2));
        project("2", next);

        assertFalse(before.equals(next));
        assertEquals(next, shown());
    }

    @Test
    void an_expired_token_is_shown_to_nobody() {
        clock.pass(Duration.ofHours(1));

        NoBrokerTokenException refused = refusal();

        assertEquals(Kind.REJECTED, refused.kind());
        assertEquals(
                "the token in BROKER_IDP_TOKEN_FILE expired at 2026-07-29T13:00:00Z; check "
                        + "the process that renews the file",
                refused.getMessage());
        assertEquals(Optional.of(refused.getMessage()), identity.fault());
    }

    @ParameterizedTest
    @CsvSource({
        "'',                                   holds no JWT",
        "hunter2,                              holds no JWT",
        "eyJhbGciOiJub25lIn0.e30.,             holds no JWT",
        "eyJhbGciOiJSUzI1NiJ9.e30.c2ln,        contains a token without exp",
    })
    void what_is_no_token_is_told_without_being_shown(String text, String what) throws IOException {
        project("2", text);

        assertEquals(Kind.MISCONFIGURED, refusal().kind());
        assertEquals("BROKER_IDP_TOKEN_FILE " + what, refusal().getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\uFEFFTOKEN",
                "TOKEN\n\n",
                "TOKEN\nTOKEN",
                "\nTOKEN",
                "TOKEN\rx",
                "# a\nTOKEN"
            })
    void a_second_line_or_a_byte_order_mark_is_refused(String text) throws IOException {
        project("2", text.replace("TOKEN", token(Duration.ofHours(1))));
        assertEquals(Kind.MISCONFIGURED, refusal().kind());
        assertEquals(
                "BROKER_IDP_TOKEN_FILE must hold one line, without a byte order mark",
                refusal().getMessage());
    }

    @Test
    void a_token_that_a_provider_rejects_is_replaced_if_the_file_has_another() throws IOException {
        Secret before = new Secret(shown());
        assertEquals(Optional.empty(), identity.insteadOf(before));
        project("2", token(Duration.ofHours(2)));
        assertEquals(Optional.of(new Secret(shown())), identity.insteadOf(before));
    }

    @Test
    void what_never_ends_is_not_read() {
        var endless = new TokenFileIdentity(Path.of("/dev/zero"), InstantSource.system());
        assertEquals(Optional.of("BROKER_IDP_TOKEN_FILE is not a regular file"), endless.fault());
    }

    @Test
    void a_file_that_is_gone_or_huge_is_told() throws IOException {
        project("2", "x".repeat(16 * 1024 + 1));
        assertEquals("BROKER_IDP_TOKEN_FILE is larger than 16384 bytes", refusal().getMessage());

        Files.delete(file);
        assertEquals("BROKER_IDP_TOKEN_FILE can't be read", refusal().getMessage());
    }

    private void project(String version, String text) throws IOException {
        Path directory = Files.createDirectory(volume.resolve(".." + version));
        Files.writeString(directory.resolve("token"), text + "\n");
        Path link = Files.createSymbolicLink(volume.resolve("..data_tmp"), Path.of(".." + version));
        Files.move(link, volume.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    }

    private String token(Duration life) {
        return cluster.sign(
                Map.of(
                        "sub", "system:serviceaccount:mintmark:broker",
                        "aud", "sts.amazonaws.com",
                        "exp", clock.instant().plus(life).getEpochSecond()));
    }

    private String shown() {
        return identity.token(ORDER).reveal();
    }

    private NoBrokerTokenException refusal() {
        return assertThrows(NoBrokerTokenException.class, this::shown);
    }
}
