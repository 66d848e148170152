package io.mintmark.broker.identity;

import io.mintmark.base.file.RegularFile;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.identity.UnverifiedClaims;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * A token that the platform puts into a file and replaces before it expires, as Kubernetes does
 * with projected service account tokens. The file is read for every mint, which costs less than
 * finding out whether it has changed, and is never wrong about it.
 */
public final class TokenFileIdentity implements BrokerIdentity {
    private static final int MOST_BYTES = 16 << 10;
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final Path file;
    private final InstantSource clock;

    /**
     * @param file {@code BROKER_IDP_TOKEN_FILE}
     */
    public TokenFileIdentity(Path file, InstantSource clock) {
        this.file = file;
        this.clock = clock;
    }

    /** The token that all mints share; what the order asks for isn't in it. */
    @Override
    public Secret token(TokenOrder order) {
        return current();
    }

    @Override
    public Optional<Secret> insteadOf(Secret rejected) {
        return Optional.of(current()).filter(token -> !token.equals(rejected));
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public Optional<String> fault() {
        try {
            var _ = current();
            return Optional.empty();
        } catch (NoBrokerTokenException e) {
            return Optional.of(e.getMessage());
        }
    }

    private Secret current() {
        Secret token = new Secret(line(text()));
        Instant expiry =
                UnverifiedClaims.of(token)
                        .orElseThrow(() -> unusable("holds no JWT"))
                        .expiry()
                        .orElseThrow(() -> unusable("contains a token without exp"));
        if (!clock.instant().isBefore(expiry)) {
            throw new NoBrokerTokenException(
                    Kind.REJECTED,
                    ("the token in BROKER_IDP_TOKEN_FILE expired at %s; check the process "
                                    + "that renews the file")
                            .formatted(expiry));
        }
        return token;
    }

    private String text() {
        try {
            return new String(RegularFile.read(file, MOST_BYTES), StandardCharsets.UTF_8);
        } catch (RegularFile.Unfit e) {
            throw unusable(e.getMessage());
        } catch (IOException e) {
            throw unusable("can't be read");
        }
    }

    /**
     * A second line may or may not belong to the token; a byte order mark, which editors add,
     * doesn't.
     */
    private static String line(String text) {
        String line = text.replaceFirst("\r?\n$", "");
        if (line.chars().anyMatch(c -> c == '\n' || c == '\r' || c == BYTE_ORDER_MARK)) {
            throw unusable("must hold one line, without a byte order mark");
        }
        return line;
    }

    private static NoBrokerTokenException unusable(String what) {
        return new NoBrokerTokenException("BROKER_IDP_TOKEN_FILE " + what);
    }
}
