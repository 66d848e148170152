package io.mintmark.provider;

import io.mintmark.base.outbound.Sender;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.identity.TokenOrder;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * One credential of a {@link PreparedKey} to be obtained: the grant was found and the intent is on
 * record.
 *
 * @param externalId the tenant's, for AWS
 * @param maxCalls the maximum number of the tenant's concurrent calls
 * @param subject the {@code sub} of the client's token
 * @param duration the maximum lifetime of the credential, within the type's limits
 * @param deadline when the provider must have answered
 * @param decision to be checked right before anything is sent or made; {@link #sender} does that
 *     for every HTTP request
 * @param callerKey what the client wants to have certified; without it, a type that certifies keys
 *     makes one
 * @param actor who acts for the subject
 * @param issuer of the broker's tokens for the tenant, if it came from another cell
 */
public record MintOrder(
        MintId mintId,
        TenantName tenant,
        UUID externalId,
        int maxCalls,
        ProviderName provider,
        KeyName key,
        IdpName idp,
        String subject,
        Duration duration,
        Instant deadline,
        FreshDecision decision,
        Optional<CallerKey> callerKey,
        Optional<Actor> actor,
        Optional<String> issuer) {

    /**
     * The actor for the subject of a credential.
     *
     * @param act the claim {@code act} that says so (RFC 8693 section 4.1), with those who acted
     *     before
     */
    public record Actor(IdpName idp, String subject, Map<String, Object> act) {
        public Actor {
            act = Map.copyOf(act);
        }
    }

    /** An order for a subject for which nobody acts. */
    public MintOrder(
            MintId mintId,
            TenantName tenant,
            UUID externalId,
            int maxCalls,
            ProviderName provider,
            KeyName key,
            IdpName idp,
            String subject,
            Duration duration,
            Instant deadline,
            FreshDecision decision,
            Optional<CallerKey> callerKey) {
        this(
                mintId,
                tenant,
                externalId,
                maxCalls,
                provider,
                key,
                idp,
                subject,
                duration,
                deadline,
                decision,
                callerKey,
                Optional.empty(),
                Optional.empty());
    }

    /** Names who acts for the subject. */
    public MintOrder with(Optional<Actor> acting) {
        return new MintOrder(
                mintId,
                tenant,
                externalId,
                maxCalls,
                provider,
                key,
                idp,
                subject,
                duration,
                deadline,
                decision,
                callerKey,
                acting,
                issuer);
    }

    /** Claims of a token of this mint, with the claim {@code act} if somebody acts. */
    private Map<String, Object> withAct(Map<String, Object> claims) {
        if (actor.isEmpty()) {
            return claims;
        }
        Map<String, Object> all = new HashMap<>(claims);
        all.put("act", actor.get().act());
        return all;
    }

    /**
     * The duration in seconds, for a provider that takes it within limits.
     *
     * @throws UnusableSettingsException if it isn't within them
     */
    public int seconds(int shortest, int longest) {
        long seconds = duration.toSeconds();
        if (seconds < shortest || seconds > longest) {
            throw new UnusableSettingsException(
                    "a duration of %d s is out of range; it must be from %d to %d s"
                            .formatted(seconds, shortest, longest));
        }
        return (int) seconds;
    }

    /** On whose behalf a request is sent for it. */
    public Sender sender() {
        return new Sender(tenant.value(), decision::require);
    }

    /** A sender for requests that end a credential, which no decision may prevent. */
    public Sender withoutDecision() {
        return new Sender(tenant.value(), () -> {});
    }

    /** An order for the broker's token of this mint, with the usual lifetime. */
    public TokenOrder token(String audience, Map<String, Object> claims) {
        return new TokenOrder(tenant, key, mintId, audience, false, withAct(claims)).of(issuer);
    }

    /** Orders a token for a provider that verifies RS256 signatures alone. */
    public TokenOrder rs256Token(String audience) {
        return new TokenOrder(tenant, key, mintId, audience, true, withAct(Map.of())).of(issuer);
    }
}
