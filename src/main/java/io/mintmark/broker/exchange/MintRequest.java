package io.mintmark.broker.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.provider.CallerKey;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A request for credentials.
 *
 * @param requestId the correlation id that the answer carries
 * @param address the client's, not a trusted proxy's
 * @param userAgent as the client sent it
 * @param lifetime the longest that the client wants the credentials to be valid; the key, the grant
 *     and the tenant may shorten it further
 * @param format how the credentials are to be handed out
 * @param callerKey what the client wants to have certified
 * @param permit given back when the request's tenant is known
 */
public record MintRequest(
        String requestId,
        InetAddress address,
        Optional<String> userAgent,
        PresentedToken token,
        KeySelection keys,
        Optional<Duration> lifetime,
        CredentialFormat format,
        RequestPermit permit,
        Optional<CallerKey> callerKey) {

    /** Asks to certify a key of the client. */
    MintRequest certifying(CallerKey key) {
        return new MintRequest(
                requestId,
                address,
                userAgent,
                token,
                keys,
                lifetime,
                format,
                permit,
                Optional.of(key));
    }

    /** Checks that each grant certifies clients' keys as the request wants. */
    Verdict<List<Granted>> certified(List<Granted> granted) {
        String unfit = callerKey.isPresent() ? "refused" : "required";
        return granted.stream()
                .map(Granted::key)
                .filter(key -> key.settings().path("caller_key").asText().equals(unfit))
                .findFirst()
                .map(key ->
                        Verdict.<List<Granted>>refused(
                                new RequestRefusal.BadField(
                                        "key",
                                        "Key '%s' has caller_key '%s'; use POST /%s."
                                                .formatted(
                                                        key.name(),
                                                        unfit,
                                                        callerKey.isPresent()
                                                                ? "credentials/mint"
                                                                : "sign/" + key.name()))))
                .orElseGet(() -> Verdict.passed(granted));
    }

    /** Shortens each grant to the lifetime that the client wants. */
    Verdict<List<Granted>> shortened(List<Granted> granted) {
        if (lifetime.isEmpty()) {
            return Verdict.passed(granted);
        }
        List<Granted> shortened = new ArrayList<>();
        for (Granted one : granted) {
            Optional<Granted> shorter = one.atMost(lifetime.get());
            if (shorter.isEmpty()) {
                return Verdict.refused(
                        new RequestRefusal.TooShort(
                                one.key().name().value(), lifetime.get(), one.atLeast()));
            }
            shortened.add(shorter.get());
        }
        return Verdict.passed(shortened);
    }

    Caller caller() {
        return new Caller(requestId, address, userAgent);
    }
}
