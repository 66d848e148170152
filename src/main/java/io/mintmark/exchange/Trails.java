package io.mintmark.exchange;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Caller;
import io.mintmark.audit.Event;
import io.mintmark.audit.Holder;
import io.mintmark.audit.Kind;
import io.mintmark.audit.MintTrail;
import io.mintmark.audit.Warrant;
import io.mintmark.grant.Granted;
import io.mintmark.grant.Provider;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintIds;
import io.mintmark.token.Examination;
import io.mintmark.token.IdentityProvider;
import io.mintmark.token.VerifiedToken;

import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Puts what a request turned out to be into the terms of the audit log. */
final class Trails {
    private final MintIds mintIds;

    Trails(MintIds mintIds) {
        this.mintIds = mintIds;
    }

    /** What is to be minted. */
    Intent intent(MintRequest request, Admitted admitted, List<Granted> granted) {
        Holder holder = holder(admitted);
        List<Order> orders =
                granted.stream()
                        .map(grant ->
                                new Order(
                                        trail(
                                                request.caller(),
                                                holder,
                                                grant.key().name(),
                                                Optional.of(warrant(grant, admitted))),
                                        grant,
                                        request.format().outputs(grant.key())))
                        .toList();
        return new Intent(admitted, orders);
    }

    /** The rows of the keys that are refused. */
    List<Event> denied(
            MintRequest request, Admitted admitted, Decision.Denied denied, Instant now) {
        Holder holder = holder(admitted);
        return denied.reasons().entrySet().stream()
                .map(entry ->
                        trail(request.caller(), holder, entry.getKey(), Optional.empty())
                                .denied(now, entry.getValue()))
                .toList();
    }

    /** The row of a token that was not accepted. */
    Event rejected(Caller caller, Holder holder, String reason, Instant now) {
        return new Event(
                mintIds.next(),
                Kind.REJECTED,
                now,
                Optional.of(caller),
                Optional.of(holder),
                Optional.empty(),
                Optional.empty(),
                Optional.of(reason),
                Optional.empty(),
                Optional.empty());
    }

    /** Who showed a token that isn't accepted, if its issuer is one that the broker knows. */
    static Optional<Holder> stranger(Examination examination) {
        return examination
                .knownIssuer()
                .map(issuer ->
                        stranger(issuer, examination.provider(), hex(examination.tokenHash())));
    }

    /** Who showed a token that isn't accepted though it was verified. */
    static Holder stranger(VerifiedToken token) {
        return stranger(
                token.provider().issuer(), Optional.of(token.provider()), hex(token.hash()));
    }

    private static Holder stranger(
            String issuer, Optional<IdentityProvider> provider, String tokenHash) {
        return new Holder(
                provider.map(IdentityProvider::tenant),
                provider.map(IdentityProvider::name),
                issuer,
                Optional.empty(),
                Optional.empty(),
                tokenHash,
                Optional.empty());
    }

    private MintTrail trail(Caller caller, Holder holder, KeyName key, Optional<Warrant> warrant) {
        return new MintTrail(mintIds.next(), caller, holder, key, warrant);
    }

    private static Warrant warrant(Granted granted, Admitted admitted) {
        Provider provider = granted.key().provider();
        return new Warrant(
                provider.name(),
                provider.type(),
                granted.grantId(),
                admitted.entitlements().state().own().revision());
    }

    private static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    private static Holder holder(Admitted admitted) {
        VerifiedToken token = admitted.token();
        return new Holder(
                Optional.of(token.provider().tenant()),
                Optional.of(token.provider().name()),
                token.provider().issuer(),
                Optional.of(token.subject()),
                token.tokenId(),
                hex(token.hash()),
                claims(admitted.entitlements().claimsLookedAt()));
    }

    private static Optional<String> claims(SortedMap<String, JsonNode> looked) {
        if (looked.isEmpty()) {
            return Optional.empty();
        }
        ObjectNode claims = JsonNodeFactory.instance.objectNode();
        looked.forEach(claims::set);
        return Optional.of(claims.toString());
    }
}
