package io.mintmark.broker.approval;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.StorableText;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;

import java.util.Optional;

/**
 * Who asks or decides: the subject of a verified token, and who acts for it.
 *
 * @param claims all claims of the token, as conditions see them and as PostgreSQL can store them
 */
public record Person(
        TenantName tenant, IdpName idp, String subject, JsonNode claims, Optional<Actor> actor) {

    /** The party that acts for the subject. */
    public record Actor(IdpName idp, String subject) {
        private boolean is(AccessRequest.Named named) {
            return named.subject().equals(subject)
                    && named.idp().filter(idp.value()::equals).isPresent();
        }
    }

    /** The parties of a request whose tokens are verified. */
    public static Person of(VerifiedToken token, Optional<VerifiedActor> actor) {
        return new Person(
                token.provider().tenant(),
                token.provider().name(),
                token.subject(),
                StorableText.fit(token.claims()),
                actor.map(acting -> new Actor(acting.provider().name(), acting.subject())));
    }

    /**
     * Whether a request that the subject may see concerns this person: an actor doesn't take the
     * subject's place, so with one it must be the request of both.
     */
    boolean mayHandle(AccessRequest request) {
        return actor.isEmpty()
                || (request.mine() && request.actor().filter(actor.get()::is).isPresent());
    }
}
