package io.mintmark.admin.webhook;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.admin.webhook.CheckIssuer.Signed;
import io.mintmark.base.outbound.ClientCertificate;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.webhook.WebhookAnswer;
import io.mintmark.provider.webhook.WebhookKey;
import io.mintmark.provider.webhook.WebhookRequest;
import io.mintmark.provider.webhook.WebhookSettings;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** The requests of a broker to one service, with tokens that may be wrong. */
final class WebhookBroker {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration TOKEN_LIFE = Duration.ofMinutes(5);

    private final Role role;
    private final CheckIssuer issuer;
    private final GuardedHttp http;
    private final InstantSource clock;

    /**
     * What the broker is to the service.
     *
     * @param certificate what it presents in TLS
     */
    record Role(
            WebhookSettings settings,
            Optional<ClientCertificate> certificate,
            WebhookKey key,
            TenantName tenant,
            ProviderName provider,
            KeyName name,
            Duration duration) {}

    /**
     * A token, made of the claims that a broker's has.
     *
     * @param change what is different in it
     */
    record Token(Signed signed, UnaryOperator<JWTClaimsSet.Builder> change) {
        /** A token as the broker makes it, which the service must accept. */
        static final Token PROPER = new Token(Signed.PROPERLY, claims -> claims);
    }

    WebhookBroker(Role role, CheckIssuer issuer, InstantSource clock) {
        this.role = role;
        this.issuer = issuer;
        this.http = new GuardedHttp(new Destinations(List.of(role.settings().endpoint().host())));
        this.clock = clock;
    }

    /** The time by which a credential that is requested now must have expired. */
    Instant latestEnd() {
        return clock.instant().plus(role.duration()).plusSeconds(60);
    }

    /**
     * Asks for a credential.
     *
     * @param token empty for none
     */
    Reply put(MintId mint, Optional<Token> token) throws OutboundFailure {
        return send(
                WebhookRequest.put(role.settings().address(mint), role.key().request(order(mint))),
                mint,
                "key:" + role.name(),
                token);
    }

    /** Deletes what was made for a mint. */
    Reply delete(MintId mint, Optional<Token> token) throws OutboundFailure {
        return send(
                WebhookRequest.delete(role.settings().address(mint)),
                mint,
                "provider:" + role.provider(),
                token);
    }

    /** The broker's result for a response to a PUT. */
    MintResult result(Reply reply, MintId mint) {
        return new WebhookAnswer(reply, role.settings().endpoint()).result(role.settings(), mint);
    }

    private Reply send(WebhookRequest request, MintId mint, String holder, Optional<Token> token)
            throws OutboundFailure {
        OutboundRequest post =
                token.map(wanted ->
                                request.authorized(
                                        issuer.token(
                                                wanted.change()
                                                        .apply(claims(request, mint, holder))
                                                        .build(),
                                                wanted.signed())))
                        .orElse(request.unsigned());
        OutboundRequest trusting = role.settings().caCertificate().map(post::trusting).orElse(post);
        return http.post(role.certificate().map(trusting::presenting).orElse(trusting), TIMEOUT);
    }

    private JWTClaimsSet.Builder claims(WebhookRequest request, MintId mint, String holder) {
        Instant now = clock.instant();
        var claims =
                new JWTClaimsSet.Builder()
                        .issuer(issuer.name())
                        .subject("tenant:%s:%s".formatted(role.tenant(), holder))
                        .audience(role.settings().endpoint().origin())
                        .issueTime(Date.from(now))
                        .notBeforeTime(Date.from(now))
                        .expirationTime(Date.from(now.plus(TOKEN_LIFE)))
                        .jwtID(mint.toString());
        request.claims().forEach(claims::claim);
        return claims;
    }

    private MintOrder order(MintId mint) {
        return new MintOrder(
                mint,
                role.tenant(),
                new UUID(0, 0),
                1,
                role.provider(),
                role.name(),
                new IdpName("check"),
                "mintmark check-webhook",
                role.duration(),
                clock.instant().plus(TIMEOUT),
                () -> {},
                Optional.empty());
    }
}
