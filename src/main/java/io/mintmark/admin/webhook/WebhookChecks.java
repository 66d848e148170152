package io.mintmark.admin.webhook;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.admin.webhook.CheckIssuer.Signed;
import io.mintmark.admin.webhook.WebhookBroker.Token;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotMinted;

import java.io.PrintStream;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Requests that a service must answer as docs/webhook.yaml says, and requests that it must refuse.
 * What was made is deleted at the end.
 */
final class WebhookChecks {
    private static final Set<Integer> GONE = Set.of(204, 404, 410);
    private static final Set<Integer> NOT_AGAIN = Set.of(409, 410);
    private static final Set<Integer> REFUSED = Set.of(401, 403);
    private static final int CONFLICT = 409;
    private static final long HOUR = 3_600;

    private final WebhookBroker broker;
    private final MintIds ids;
    private final InstantSource clock;
    private final PrintStream out;
    private final List<MintId> used = new ArrayList<>();
    private int passed;
    private int failed;

    /** Requests, with what is wrong with the answers. */
    private interface Check {
        Optional<String> fault() throws OutboundFailure;
    }

    WebhookChecks(WebhookBroker broker, MintIds ids, InstantSource clock, PrintStream out) {
        this.broker = broker;
        this.ids = ids;
        this.clock = clock;
        this.out = out;
    }

    /** Returns whether all passed. */
    boolean run() {
        try {
            MintId mint = next();
            if (passes("PUT makes a credential", () -> credentialFault(put(mint), mint))) {
                passes(
                        "the credential expires at the requested time or earlier",
                        this::lifetimeFault);
                passes("a repeated PUT gives the same credential, or 409", this::repetitionFault);
                checkForgeries(mint);
                checkDeletion(mint);
            } else {
                out.println(
                        "note  the other checks were skipped, because a service that rejects"
                                + " everything would pass most of them");
            }
        } finally {
            used.forEach(this::cleanUp);
        }
        out.printf("%d of %d checks passed%n", passed, passed + failed);
        return failed == 0;
    }

    private Optional<String> lifetimeFault() throws OutboundFailure {
        MintId mint = next();
        Instant latest = broker.latestEnd();
        return switch (broker.result(put(mint), mint)) {
            case Minted made ->
                    unless(
                            made.expiresAt().isAfter(clock.instant())
                                    && !made.expiresAt().isAfter(latest),
                            "expiresAt is %s; it must be in the future and not after %s"
                                    .formatted(made.expiresAt(), latest));
            case NotMinted why -> Optional.of(why.detail());
            case NotCalled why -> Optional.of(why.detail());
        };
    }

    private Optional<String> repetitionFault() throws OutboundFailure {
        MintId mint = next();
        Reply first = put(mint);
        Reply second = put(mint);
        if (second.status() == CONFLICT) {
            return credentialFault(first, mint);
        }
        if (broker.result(first, mint) instanceof Minted one
                && broker.result(second, mint) instanceof Minted other) {
            return unless(
                    values(one).equals(values(other))
                            && one.credentialId().equals(other.credentialId()),
                    "the second response has a different credential");
        }
        return credentialFault(first, mint).or(() -> credentialFault(second, mint));
    }

    /** The values without the expiry, which a service may count from each response. */
    private static Map<String, Secret> values(Minted made) {
        Map<String, Secret> values = new HashMap<>(made.fields());
        values.remove("Expiration");
        return values;
    }

    private void checkForgeries(MintId made) {
        Date past = Date.from(clock.instant().minusSeconds(HOUR));
        Date future = Date.from(clock.instant().plusSeconds(HOUR));
        refuses("a request without a token", Optional.empty());
        refuses("a token with a wrong signature", Signed.WITH_OTHER_KEY);
        refuses("a token with an unknown key", Signed.WITH_UNKNOWN_KEY);
        refuses("a token without a signature", Signed.NOT);
        refuses("a token of another issuer", claims -> claims.issuer("https://issuer.example"));
        refuses(
                "a token for another audience",
                claims -> claims.audience("https://service.example"));
        refuses("an expired token", claims -> claims.expirationTime(past));
        refuses("a token without exp", claims -> claims.expirationTime(null));
        refuses(
                "a token that is not yet valid",
                claims -> claims.notBeforeTime(future).expirationTime(future));
        refuses(
                "a token of another tenant",
                claims -> claims.subject("tenant:another-tenant:key:deploy"));
        refuses("a token for another method (htm)", claims -> claims.claim("htm", "DELETE"));
        refuses(
                "a token for another address (htu)",
                claims -> claims.claim("htu", "https://service.example/" + next()));
        refuses(
                "a token for another body (body_sha256)",
                claims ->
                        claims.claim("body_sha256", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"));
        refuses(
                "a token without htm, htu and body_sha256",
                claims -> claims.claim("htm", null).claim("htu", null).claim("body_sha256", null));
        passes(
                "DELETE refuses a request without a token",
                () -> refusalFault(broker.delete(made, Optional.empty())));
        passes(
                "DELETE refuses a token for PUT",
                () ->
                        refusalFault(
                                broker.delete(made, proper(claims -> claims.claim("htm", "PUT")))));
        passes(
                "DELETE refuses a token of another tenant",
                () ->
                        refusalFault(
                                broker.delete(
                                        made,
                                        proper(claims ->
                                                claims.subject(
                                                        "tenant:another-tenant:provider:x")))));
    }

    private void checkDeletion(MintId made) {
        MintId unknown = next();
        passes("DELETE ends a credential", () -> deletionFault(made));
        passes("a repeated DELETE is accepted", () -> deletionFault(made));
        passes("DELETE of an unknown mint id is accepted", () -> deletionFault(unknown));
        passes("PUT after DELETE makes no credential", () -> revivalFault(made));
        passes(
                "PUT after DELETE of an unknown mint id makes no credential",
                () -> revivalFault(unknown));
    }

    private Optional<String> deletionFault(MintId mint) throws OutboundFailure {
        int status = broker.delete(mint, Optional.of(Token.PROPER)).status();
        return unless(
                GONE.contains(status),
                "the status is %d; it must be 204, 404 or 410".formatted(status));
    }

    private Optional<String> revivalFault(MintId mint) throws OutboundFailure {
        int status = put(mint).status();
        return unless(
                NOT_AGAIN.contains(status),
                "the status is %d; it must be 409 or 410".formatted(status));
    }

    private void refuses(String what, Signed signed) {
        refuses(what, Optional.of(new Token(signed, claims -> claims)));
    }

    private void refuses(String what, UnaryOperator<JWTClaimsSet.Builder> change) {
        refuses(what, proper(change));
    }

    private void refuses(String what, Optional<Token> token) {
        passes("PUT refuses " + what, () -> refusalFault(broker.put(next(), token)));
    }

    private static Optional<Token> proper(UnaryOperator<JWTClaimsSet.Builder> change) {
        return Optional.of(new Token(Signed.PROPERLY, change));
    }

    private static Optional<String> refusalFault(Reply reply) {
        return unless(
                REFUSED.contains(reply.status()),
                "the status is %d; it must be 401 or 403".formatted(reply.status()));
    }

    private Optional<String> credentialFault(Reply reply, MintId mint) {
        return switch (broker.result(reply, mint)) {
            case Minted _ -> Optional.empty();
            case NotMinted why -> Optional.of(why.detail());
            case NotCalled why -> Optional.of(why.detail());
        };
    }

    private Reply put(MintId mint) throws OutboundFailure {
        return broker.put(mint, Optional.of(Token.PROPER));
    }

    private MintId next() {
        MintId mint = ids.next();
        used.add(mint);
        return mint;
    }

    private boolean passes(String name, Check check) {
        Optional<String> fault;
        try {
            fault = check.fault();
        } catch (OutboundFailure e) {
            fault = Optional.of(String.valueOf(e.getMessage()));
        }
        out.println(fault.map(why -> "WRONG " + name + ": " + why).orElse("ok    " + name));
        passed += fault.isEmpty() ? 1 : 0;
        failed += fault.isEmpty() ? 0 : 1;
        return fault.isEmpty();
    }

    /**
     * Deletes the credential of a check. Whether deletion works is reported by an earlier check.
     */
    private void cleanUp(MintId mint) {
        try {
            var _ = broker.delete(mint, Optional.of(Token.PROPER));
        } catch (OutboundFailure e) {
            out.println("note  mint %s was not deleted: %s".formatted(mint, e.getMessage()));
        }
    }

    private static Optional<String> unless(boolean fine, String why) {
        return fine ? Optional.empty() : Optional.of(why);
    }
}
