package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;

import io.mintmark.audit.canonical.EventFields;
import io.mintmark.auditor.reader.PastEntitlements.Revisions;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.grant.Parties;
import io.mintmark.broker.grant.Party;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;
import io.mintmark.broker.token.Role;
import io.mintmark.broker.token.SeenClaims;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** The fields of the row {@code requested} of a mint. */
record RecordedMint(List<@Nullable String> fields) {

    /** The reason why a mint isn't proven. It is an exception because that is rare. */
    static final class Objected extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Objection objection;

        Objected(Objection objection) {
            super(objection.why(), null, false, false);
            this.objection = objection;
        }

        Objection objection() {
            return objection;
        }
    }

    RecordedMint(LogReader.Row row) {
        this(row.fields());
    }

    String text(EventFields field) throws Objected {
        String text = field.in(fields);
        require(text != null, () -> "the mint's row has no " + field.column());
        return Objects.requireNonNull(text);
    }

    long number(EventFields field) throws Objected {
        return Long.parseLong(text(field));
    }

    Instant time(EventFields field) throws Objected {
        return Instant.EPOCH.plus(number(field), ChronoUnit.MICROS);
    }

    Instant at() throws Objected {
        return time(EventFields.OCCURRED_AT);
    }

    boolean has(EventFields field) {
        return field.in(fields) != null;
    }

    SeenClaims claims(EventFields field) throws JsonProcessingException {
        String claims = field.in(fields);
        return new SeenClaims.OnRecord(DocumentFields.json(claims == null ? "{}" : claims));
    }

    /** The client's address, which a row contains as hexadecimal bytes with the prefix length. */
    private Optional<InetAddress> address() {
        return Optional.ofNullable(EventFields.CLIENT_ADDRESS.in(fields))
                .map(text -> HexFormat.of().parseHex(text.substring(0, text.indexOf('/'))))
                .map(RecordedMint::address);
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("an IP address must have 4 or 16 bytes", e);
        }
    }

    static Objection ungranted(String why) {
        return new Objection(why, false, Optional.empty());
    }

    /**
     * Requires a condition. The sentence is only made if it is needed, because there may be many
     * millions of mints.
     */
    static void require(boolean fits, Supplier<String> why) throws Objected {
        if (!fits) {
            throw new Objected(ungranted(why.get()));
        }
    }

    /** The subject and the actor of the mint, in the roles that their identity providers accept. */
    Parties parties(Revisions then, PastRow idp, Optional<PastRow> actorIdp)
            throws Objected, JsonProcessingException {
        Party subject =
                new Party(
                        new IdpName(text(EventFields.IDP)),
                        text(EventFields.SUBJECT),
                        claims(EventFields.CLAIMS),
                        idp.required());
        requireAccepted(subject, idp, Role.SUBJECT, then);
        if (actorIdp.isEmpty()) {
            return new Parties(subject, Optional.empty(), address());
        }
        boolean hasToken = has(EventFields.ACTOR_TOKEN_HASH);
        PastRow ofActor = actorIdp.get();
        Party actor =
                new Party(
                        new IdpName(text(EventFields.ACTOR_IDP)),
                        text(EventFields.ACTOR),
                        claims(EventFields.ACTOR_CLAIMS),
                        hasToken ? ofActor.required() : ClaimConditions.NONE);
        String issuer = text(EventFields.ACTOR_ISSUER);
        require(
                ofActor.issuer().equals(issuer),
                () ->
                        "the actor's identity provider '%s' had the issuer '%s' at revision %d, but the mint's row has '%s'"
                                .formatted(
                                        actor.idp().value(), ofActor.issuer(), then.own(), issuer));
        if (hasToken) {
            requireAccepted(actor, ofActor, Role.ACTOR, then);
        } else {
            require(
                    actor.idp().equals(subject.idp()),
                    () ->
                            "the actor has no token of its own, but its identity provider is not the subject's");
        }
        return new Parties(subject, Optional.of(actor), address());
    }

    private static void requireAccepted(Party party, PastRow idp, Role role, Revisions then)
            throws Objected {
        require(
                idp.accepts().contains(role),
                () ->
                        "identity provider %s accepts no %s at revision %d"
                                .formatted(party.idp().value(), role.word(), then.own()));
        require(
                party.required().areMetBy(party.claims(), new MatchingBudget(then.tenant())),
                () ->
                        "the claims of its %s don't meet the conditions of its identity provider at revision %d"
                                .formatted(role.word(), then.own()));
    }
}
