package io.mintmark.mint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.tenant.Glob;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintId;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.TenantName;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** A mint order as tests want it, one change at a time. JSON is written with single quotes. */
public record Orders(
        String type,
        String providerSettings,
        String keySettings,
        List<String> allowedTargets,
        boolean sharedIdentity,
        String subject,
        Duration duration,
        Duration patience) {
    public static final MintId MINT_ID =
            new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ab"));
    static final int MAX_CALLS = 40;
    public static final UUID EXTERNAL_ID = UUID.fromString("6f9619ff-8b86-4011-b42d-00c04fc964ff");

    public static Orders of(String type, String providerSettings, String keySettings) {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                List.of("**"),
                false,
                "repo:acme/app:ref:refs/heads/main",
                Duration.ofHours(1),
                Duration.ofSeconds(10));
    }

    public Orders allowing(String... targets) {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                Arrays.asList(targets),
                sharedIdentity,
                subject,
                duration,
                patience);
    }

    public Orders sharing() {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                allowedTargets,
                true,
                subject,
                duration,
                patience);
    }

    public Orders by(String client) {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                allowedTargets,
                sharedIdentity,
                client,
                duration,
                patience);
    }

    public Orders lasting(Duration time) {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                allowedTargets,
                sharedIdentity,
                subject,
                time,
                patience);
    }

    public Orders within(Duration time) {
        return new Orders(
                type,
                providerSettings,
                keySettings,
                allowedTargets,
                sharedIdentity,
                subject,
                duration,
                time);
    }

    public MintOrder order() {
        return new MintOrder(
                MINT_ID,
                new TenantName("acme"),
                EXTERNAL_ID,
                MAX_CALLS,
                new KeyName("deploy"),
                new IdpName("github"),
                subject,
                new AccessPoint(
                        new ProviderName("cloud"),
                        type,
                        json(providerSettings),
                        allowedTargets.stream().map(Glob::new).toList(),
                        sharedIdentity),
                json(keySettings),
                duration,
                now().plus(patience));
    }

    /** The same order of another tenant, at an access provider of that name. */
    public static MintOrder of(String tenant, String provider, MintOrder order) {
        return new MintOrder(
                order.mintId(),
                new TenantName(tenant),
                order.externalId(),
                order.maxCalls(),
                order.key(),
                order.idp(),
                order.subject(),
                new AccessPoint(
                        new ProviderName(provider),
                        order.access().type(),
                        order.access().settings(),
                        order.access().allowedTargets(),
                        order.access().sharedIdentity()),
                order.keySettings(),
                order.duration(),
                order.deadline());
    }

    /** The same order of a tenant that may have so many calls under way. */
    static MintOrder of(MintOrder order, int maxCalls) {
        return new MintOrder(
                order.mintId(),
                order.tenant(),
                order.externalId(),
                maxCalls,
                order.key(),
                order.idp(),
                order.subject(),
                order.access(),
                order.keySettings(),
                order.duration(),
                order.deadline());
    }

    public static Instant now() {
        return InstantSource.system().instant();
    }

    public static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
