package io.mintmark.provider;

import static java.util.stream.Collectors.toUnmodifiableMap;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.AccessProvider.Prepared;
import io.mintmark.provider.LeaseRevoker.Place;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.TenantBulkhead.Call;

import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The types of access providers, behind the rules that all of them share: which targets a key may
 * have, where a shared identity may be used, how many calls a tenant may have in flight, and the
 * deadline of an answer.
 */
public final class AccessProviders {
    private static final Pattern SEPARATOR = Pattern.compile("[\\s,]");

    private final Map<String, AccessProvider> byType;
    private final InstantSource clock;
    private final TenantBulkhead bulkhead;

    public AccessProviders(Collection<AccessProvider> types, InstantSource clock) {
        this.byType =
                types.stream()
                        .collect(
                                toUnmodifiableMap(
                                        provider -> provider.type().name(), Function.identity()));
        this.clock = clock;
        this.bulkhead = new TenantBulkhead(clock);
    }

    /** The names of all types. */
    public Set<String> types() {
        return byType.keySet();
    }

    /** The names of the types whose credentials have all of these fields, sorted. */
    public SortedSet<String> typesWith(Collection<String> fields) {
        return byType.values().stream()
                .map(AccessProvider::type)
                .filter(type -> type.fields().containsAll(fields))
                .map(CredentialType::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The revokers of the types whose mints leave something behind, by type. */
    public Map<String, LeaseRevoker> revokers() {
        Map<String, LeaseRevoker> revokers = new HashMap<>();
        byType.forEach((type, provider) ->
                provider.revoker().ifPresent(revoker -> revokers.put(type, revoker)));
        return revokers;
    }

    /**
     * Asks an access provider for something that isn't a mint. It counts in the tenant's bulkhead.
     *
     * @param maxCalls the maximum number of the tenant's concurrent calls
     * @return empty if the tenant has as many calls in flight
     */
    public <T> Optional<T> call(Place place, int maxCalls, Supplier<T> call) {
        return bulkhead.call(
                new Call(place.tenant(), place.provider(), maxCalls, place.deadline()),
                () -> Optional.of(call.get()),
                _ -> Optional.empty());
    }

    /** The certificates in the settings of an access provider of a type: PEM by setting. */
    public Map<String, String> certificates(String type, JsonNode providerSettings) {
        AccessProvider known = byType.get(type);
        return known == null ? Map.of() : known.certificates(providerSettings);
    }

    /**
     * The reason why an access provider's secrets can't be used, as far as that is known without a
     * call.
     */
    public Optional<String> secretsFault(String type, TenantName tenant, JsonNode settings) {
        try {
            Optional.ofNullable(byType.get(type))
                    .ifPresent(known -> known.requireSecrets(tenant, settings));
            return Optional.empty();
        } catch (UnusableSettingsException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }

    /** The lists by which servers refuse credentials that were ended, by type. */
    public Map<String, RevocationFormat> revocations() {
        Map<String, RevocationFormat> formats = new HashMap<>();
        byType.forEach((type, provider) ->
                provider.revocations().ifPresent(format -> formats.put(type, format)));
        return formats;
    }

    /**
     * Why an access provider can't certify a client's key: the end of a sentence about the key;
     * empty if it can, or if a mint will say what is wrong with its settings.
     */
    public Optional<String> objection(AccessPoint access, TenantName tenant, CallerKey key) {
        try {
            return Optional.ofNullable(byType.get(access.type()))
                    .flatMap(type -> type.objection(tenant, access.settings(), key));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /**
     * Reads a key's settings, and sends nothing. Never throws: what is wrong with them comes of
     * every mint, so that each gets its outcome recorded.
     */
    public PreparedKey prepare(AccessPoint access, JsonNode keySettings) {
        AccessProvider type = byType.get(access.type());
        if (type == null) {
            return misconfigured(unknown(access));
        }
        try {
            Prepared key = type.prepare(access.settings(), keySettings);
            return objection(access, key)
                    .map(AccessProviders::misconfigured)
                    .orElseGet(() -> PreparedKey.of(type, access, key));
        } catch (RuntimeException e) {
            return PreparedKey.failing(TimedCall.failed(e));
        }
    }

    /**
     * Starts to obtain one credential. A call counts in its tenant's bulkhead until it ends, even
     * if the request stops waiting for it.
     *
     * @param late takes a result that comes after the request stopped waiting for it
     */
    public TimedCall begin(PreparedKey key, MintOrder order, Consumer<MintResult> late) {
        return TimedCall.begin(clock, order, key, () -> key.mint(order, bulkhead), late);
    }

    private static Optional<String> objection(AccessPoint access, Prepared key) {
        return sharingObjection(access, key).or(() -> targetObjection(access, key));
    }

    private static Optional<String> sharingObjection(AccessPoint access, Prepared key) {
        if (!key.usesSharedIdentity()) {
            return Optional.empty();
        }
        if (!access.sharedIdentity()) {
            return Optional.of(
                    "the broker's identity is the same for all tenants, but access provider '%s' doesn't have shared_identity"
                            .formatted(access.name()));
        }
        return access.allowedTargets().stream()
                .filter(glob -> glob.literalPrefix().isEmpty())
                .findFirst()
                .map(glob ->
                        "access provider '%s' has shared_identity, so its allowed_targets must list specific targets, but '%s' matches every target"
                                .formatted(access.name(), glob));
    }

    /**
     * A key without a target uses the provider's default, which is only allowed if the provider
     * allows all targets.
     */
    private static Optional<String> targetObjection(AccessPoint access, Prepared key) {
        if (key.targets().isEmpty() && !allows(access, "")) {
            return Optional.of("the key names no target, " + allowed(access));
        }
        return key.targets().stream()
                .filter(target -> !allows(access, target))
                .findFirst()
                .map(target -> "the key's target is '%s', %s".formatted(target, allowed(access)))
                .or(() -> literalObjection(access, key.literalTargets()));
    }

    private static Optional<String> literalObjection(AccessPoint access, List<String> targets) {
        return targets.stream()
                .filter(target ->
                        access.allowedTargets().stream()
                                .noneMatch(glob -> glob.toString().equals(target)))
                .findFirst()
                .map(target ->
                        "the key's target '%s' must be in allowed_targets as it is, without a glob, %s"
                                .formatted(target, allowed(access)));
    }

    /**
     * Some providers accept several targets in one text, separated by blanks or commas. All of them
     * would count, while a glob that ends in {@code **} only checks the first. Irrelevant if every
     * target is allowed.
     */
    private static boolean allows(AccessPoint access, String target) {
        boolean several = SEPARATOR.matcher(target).find();
        return access.allowedTargets().stream()
                .filter(glob -> !several || glob.literalPrefix().isEmpty())
                .anyMatch(glob -> glob.matches(target));
    }

    private static String allowed(AccessPoint access) {
        return "and access provider '%s' allows only %s"
                .formatted(access.name(), access.allowedTargets());
    }

    private String unknown(AccessPoint access) {
        return "access provider '%s' has the type '%s', but this broker supports only %s"
                .formatted(access.name(), access.type(), new TreeSet<>(byType.keySet()));
    }

    private static PreparedKey misconfigured(String detail) {
        return PreparedKey.failing(new Failed(Reason.PROVIDER_MISCONFIGURED, detail));
    }
}
