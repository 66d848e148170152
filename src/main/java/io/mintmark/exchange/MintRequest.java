package io.mintmark.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.grant.Granted;
import io.mintmark.tenant.KeyName;
import io.mintmark.token.PresentedToken;
import io.mintmark.verdict.RequestRefusal;
import io.mintmark.verdict.Verdict;

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
        RequestPermit permit) {

    /** A request of the interface. */
    public MintRequest(
            String requestId,
            InetAddress address,
            Optional<String> userAgent,
            PresentedToken token,
            List<KeyName> keys) {
        this(
                requestId,
                address,
                userAgent,
                token,
                KeySelection.named(keys),
                Optional.empty(),
                CredentialFormat.OF_KEYS,
                RequestPermit.NONE);
    }

    /** The same grants, each for at most the lifetime that the client wants. */
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
