package io.mintmark.broker.grant;

import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.SeenClaims;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import java.net.InetAddress;
import java.util.Optional;

/**
 * Who takes part in a request.
 *
 * @param subject who gets credentials
 * @param actor who acts for the subject
 * @param address the client's; empty if it isn't known
 */
public record Parties(Party subject, Optional<Party> actor, Optional<InetAddress> address) {

    /** The parties of a verified token that a client of this address sent. */
    public static Parties of(
            VerifiedToken token, Optional<VerifiedActor> actor, InetAddress address) {
        return new Parties(
                new Party(
                        token.provider().name(),
                        token.subject(),
                        new SeenClaims.OfToken(token.claims()),
                        token.provider().requiredClaims()),
                actor.map(Parties::party),
                Optional.of(address));
    }

    private static Party party(VerifiedActor actor) {
        return new Party(
                actor.provider().name(),
                actor.subject(),
                new SeenClaims.OfToken(actor.claims()),
                actor.token().isPresent()
                        ? actor.provider().requiredClaims()
                        : ClaimConditions.NONE);
    }
}
