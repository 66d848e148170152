package io.mintmark.mint.web;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.Secret;
import io.mintmark.outbound.TokenReply.Given;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** Credentials that are what a token endpoint gave. */
public final class TokenCredentials {
    private final InstantSource clock;

    public TokenCredentials(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * The credential: {@code AccessToken}, {@code Expiration} and further fields. It is known by
     * the token's SHA-256. Without a lifetime it is none, since nobody could say until when it
     * works.
     *
     * @param further fields beside the credential's own, none of them secret
     */
    public MintResult credential(Step<Given> step, Endpoint endpoint, Map<String, String> further) {
        return switch (step) {
            case Stopped<Given>(MintResult.Failed failed) -> failed;
            case Done<Given>(Given given) ->
                    given.lifetime()
                            .<MintResult>map(life -> minted(given.token(), life, further))
                            .orElseGet(() ->
                                    Calls.failed(
                                            Reason.PROVIDER_ERROR,
                                            "the answer doesn't say how long the token lives"
                                                    + " (expires_in)",
                                            endpoint));
        };
    }

    private Minted minted(Secret token, Duration lifetime, Map<String, String> further) {
        Instant expiry = clock.instant().plus(lifetime).truncatedTo(ChronoUnit.SECONDS);
        Map<String, Secret> fields = new HashMap<>();
        further.forEach((field, value) -> fields.put(field, new Secret(value)));
        fields.put("AccessToken", token);
        fields.put("Expiration", new Secret(expiry.toString()));
        return new Minted(fields, expiry, HexFormat.of().formatHex(token.hash()));
    }
}
