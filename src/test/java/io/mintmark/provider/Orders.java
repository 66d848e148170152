package io.mintmark.provider;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.provider.MintOrder.Actor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A key and an order for it as tests want them, one change at a time. JSON is written with single
 * quotes.
 */
public record Orders(
        AccessPoint access, JsonNode keySettings, Duration timeout, MintOrder ordered) {
    public static final MintId MINT_ID =
            new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab"));
    static final int MAX_CALLS = 40;
    public static final UUID EXTERNAL_ID = UUID.fromString("6f9619ff-8b86-4011-b42d-00c04fc964ff");
    private static final ProviderName PROVIDER = new ProviderName("cloud");

    public static Orders of(String type, String providerSettings, String keySettings) {
        return new Orders(
                new AccessPoint(
                        PROVIDER, type, json(providerSettings), List.of(new Glob("**")), false),
                json(keySettings),
                Duration.ofSeconds(10),
                new MintOrder(
                        MINT_ID,
                        new TenantName("acme"),
                        EXTERNAL_ID,
                        MAX_CALLS,
                        PROVIDER,
                        new KeyName("deploy"),
                        new IdpName("github"),
                        "repo:acme/app:ref:refs/heads/main",
                        Duration.ofHours(1),
                        Instant.EPOCH,
                        () -> {},
                        Optional.empty()));
    }

    public Orders allowing(String... targets) {
        return at(Arrays.stream(targets).map(Glob::new).toList(), access.sharedIdentity());
    }

    public Orders sharing() {
        return at(access.allowedTargets(), true);
    }

    private Orders at(List<Glob> allowedTargets, boolean sharedIdentity) {
        var other =
                new AccessPoint(
                        access.name(),
                        access.type(),
                        access.settings(),
                        allowedTargets,
                        sharedIdentity);
        return new Orders(other, keySettings, timeout, ordered);
    }

    public Orders by(String client) {
        return ordered(
                ordered.tenant(),
                ordered.maxCalls(),
                ordered.provider(),
                client,
                ordered.duration());
    }

    public Orders lasting(Duration time) {
        return ordered(
                ordered.tenant(), ordered.maxCalls(), ordered.provider(), ordered.subject(), time);
    }

    /** The same of another tenant, at an access provider of that name. */
    public Orders of(String tenant, String provider) {
        return ordered(
                new TenantName(tenant),
                ordered.maxCalls(),
                new ProviderName(provider),
                ordered.subject(),
                ordered.duration());
    }

    /** The same of a tenant that may have so many calls under way. */
    Orders bounded(int maxCalls) {
        return ordered(
                ordered.tenant(),
                maxCalls,
                ordered.provider(),
                ordered.subject(),
                ordered.duration());
    }

    private Orders ordered(
            TenantName tenant,
            int maxCalls,
            ProviderName provider,
            String subject,
            Duration duration) {
        var other =
                new MintOrder(
                                ordered.mintId(),
                                tenant,
                                ordered.externalId(),
                                maxCalls,
                                provider,
                                ordered.key(),
                                ordered.idp(),
                                subject,
                                duration,
                                ordered.deadline(),
                                ordered.decision(),
                                ordered.callerKey())
                        .with(ordered.actor());
        return new Orders(access, keySettings, timeout, other);
    }

    /** The same, asked right before anything is sent whether the decision still holds. */
    Orders deciding(FreshDecision decision) {
        MintOrder other = with(ordered.deadline(), decision, ordered.callerKey());
        return new Orders(access, keySettings, timeout, other);
    }

    /** The same for a public key of the client. */
    public Orders certifying(String publicKey) {
        Verdict<CallerKey> key = CallerKey.of(publicKey);
        MintOrder other =
                with(
                        ordered.deadline(),
                        ordered.decision(),
                        Optional.of(((Verdict.Passed<CallerKey>) key).value()));
        return new Orders(access, keySettings, timeout, other);
    }

    private MintOrder with(Instant deadline, FreshDecision decision, Optional<CallerKey> key) {
        return new MintOrder(
                        ordered.mintId(),
                        ordered.tenant(),
                        ordered.externalId(),
                        ordered.maxCalls(),
                        ordered.provider(),
                        ordered.key(),
                        ordered.idp(),
                        ordered.subject(),
                        ordered.duration(),
                        deadline,
                        decision,
                        key)
                .with(ordered.actor());
    }

    /** The same for somebody who acts for the subject. */
    public Orders actedBy(String actor) {
        Map<String, Object> act = Map.of("iss", "https://agents.example.com", "sub", actor);
        Actor acting = new Actor(new IdpName("agents"), actor, act);
        return new Orders(access, keySettings, timeout, ordered.with(Optional.of(acting)));
    }

    public Orders within(Duration time) {
        return new Orders(access, keySettings, time, ordered);
    }

    /** The order, to be carried out from now on. */
    public MintOrder order() {
        return with(now().plus(timeout), ordered.decision(), ordered.callerKey());
    }

    /** What comes of it. */
    public MintResult mint(AccessProviders providers) {
        return providers
                .begin(providers.prepare(access, keySettings), order(), _ -> {})
                .await()
                .result();
    }

    /** The same by the type itself, without the rules and the timeout of all types. */
    public MintResult mint(AccessProvider type) {
        return type.prepare(access.settings(), keySettings).mint().apply(order());
    }

    public static Instant now() {
        return InstantSource.system().instant();
    }

    public static JsonNode json(String text) {
        return Unchecked.call(() -> new ObjectMapper().readTree(text.replace('\'', '"')));
    }
}
