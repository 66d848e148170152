package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.AccessRefusal.OtherNetworks;
import io.mintmark.base.verdict.AccessRefusal.TooShortGrant;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Entitlements;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.token.VerifiedActor;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Predicate;

/** Whether a subject may have all of the keys that it asks for. */
sealed interface Decision {
    /** The {@code reason} of a key that the tenant has, and the subject isn't granted now. */
    String NOT_GRANTED = "not_granted";

    /** The {@code reason} of a key that the subject is granted for other networks. */
    String ADDRESS_NOT_ALLOWED = "address_not_allowed";

    /** The {@code reason} of a key that the tenant doesn't have. */
    String NO_SUCH_KEY = "no_such_key";

    /** The {@code reason} of every key where the subject is blocked. */
    String SUBJECT_BLOCKED = "subject_blocked";

    /** All requested keys are granted, in the order of the request. */
    record Allowed(List<Granted> granted) implements Decision {}

    /**
     * Not all of them.
     *
     * @param refusal what the client may know
     * @param reasons for each key that is refused why, in the order of the request
     */
    record Denied(AccessRefusal refusal, Map<KeyName, String> reasons) implements Decision {}

    /** The keys can't be minted as the request wants them; no grant is at fault. */
    record Invalid(Refusal refusal) implements Decision {}

    /** Decides on one state of the tenant, at one moment. */
    static Decision of(Admitted admitted, MintRequest request, TimeBounds now) {
        SortedMap<String, Granted> mintable = admitted.entitlements().mintable(now);
        return switch (request.keys()
                .from(
                        admitted.token().provider().tenant(),
                        mintable.values(),
                        admitted.entitlements()::keyOfResource,
                        request.format())) {
            case Verdict.Refused<List<KeyName>>(Refusal refusal) -> new Invalid(refusal);
            case Verdict.Passed<List<KeyName>>(List<KeyName> keys) ->
                    switch (of(admitted, mintable, keys, now)) {
                        case Allowed(List<Granted> granted) -> expressed(request, granted);
                        case Denied denied -> denied;
                        case Invalid invalid -> invalid;
                    };
        };
    }

    private static Decision expressed(MintRequest request, List<Granted> granted) {
        return switch (request.format()
                .check(granted)
                .then(request::certified)
                .then(request::shortened)) {
            case Verdict.Refused<List<Granted>>(Refusal refusal) -> new Invalid(refusal);
            case Verdict.Passed<List<Granted>>(List<Granted> all) -> new Allowed(all);
        };
    }

    private static Decision of(
            Admitted admitted,
            SortedMap<String, Granted> mintable,
            List<KeyName> keys,
            TimeBounds now) {
        List<Granted> granted = new ArrayList<>();
        Map<KeyName, String> reasons = new LinkedHashMap<>();
        for (KeyName key : keys) {
            Granted found = mintable.get(key.value());
            if (found != null) {
                granted.add(found);
            } else {
                reasons.put(key, reason(admitted.entitlements(), key));
            }
        }
        if (reasons.isEmpty()) {
            return new Allowed(granted);
        }
        admitted.entitlements()
                .elsewhere(reasons.keySet(), now)
                .forEach(key -> reasons.replace(key, NOT_GRANTED, ADDRESS_NOT_ALLOWED));
        return new Denied(refusal(admitted, mintable, reasons, now), reasons);
    }

    private static String reason(Entitlements entitlements, KeyName key) {
        if (entitlements.areBlocked()) {
            return SUBJECT_BLOCKED;
        }
        return entitlements.haveKey(key) ? NOT_GRANTED : NO_SUCH_KEY;
    }

    /** A subject without any grant doesn't learn which keys exist. */
    private static AccessRefusal refusal(
            Admitted admitted,
            SortedMap<String, Granted> mintable,
            Map<KeyName, String> reasons,
            TimeBounds now) {
        List<String> missing = names(reasons, NO_SUCH_KEY::equals);
        List<String> denied = names(reasons, reason -> !reason.equals(NO_SUCH_KEY));
        Optional<OtherNetworks> elsewhere =
                admitted.entitlements()
                        .address()
                        .map(InetAddress::getHostAddress)
                        .map(address ->
                                new OtherNetworks(
                                        address, names(reasons, ADDRESS_NOT_ALLOWED::equals)))
                        .filter(other -> !other.keys().isEmpty());
        String subject = admitted.token().subject();
        Optional<String> actor = admitted.actor().map(VerifiedActor::subject);
        List<String> requestable =
                admitted.entitlements().requestable(reasons.keySet()).stream()
                        .map(KeyName::value)
                        .toList();
        List<TooShortGrant> tooShort = admitted.entitlements().tooShort(reasons.keySet(), now);
        if (mintable.isEmpty()) {
            List<String> all = reasons.keySet().stream().map(KeyName::value).toList();
            return new AccessRefusal.KeysDenied(
                    subject, all, List.of(), requestable, actor, tooShort, elsewhere, List.of());
        }
        return denied.isEmpty()
                ? new AccessRefusal.KeysMissing(subject, missing)
                : new AccessRefusal.KeysDenied(
                        subject,
                        denied,
                        List.copyOf(mintable.keySet()),
                        requestable,
                        actor,
                        tooShort,
                        elsewhere,
                        List.of());
    }

    private static List<String> names(Map<KeyName, String> reasons, Predicate<String> reason) {
        return reasons.entrySet().stream()
                .filter(entry -> reason.test(entry.getValue()))
                .map(entry -> entry.getKey().value())
                .toList();
    }
}
