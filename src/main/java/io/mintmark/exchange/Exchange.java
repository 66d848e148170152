package io.mintmark.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.grant.Catalogue;
import io.mintmark.grant.Granted;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.mint.AccessProviders;
import io.mintmark.tenant.MintIds;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.TokenVerifier;
import io.mintmark.verdict.AccessRefusal;
import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The use case: a token comes in, credentials go out, and everything that happened is on record
 * before anybody hears of it.
 *
 * <p>Every method throws {@link Unavailable} where something that is needed is gone for now; then
 * nothing was handed out.
 */
public final class Exchange {
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Admission admission;
    private final Intents intents;
    private final Mints mints;
    private final AccessProviders providers;
    private final InstantSource clock;

    /**
     * @param patience how long the access providers of a request may take together
     */
    public Exchange(
            TokenVerifier verifier,
            KnownIssuers issuers,
            Catalogue catalogue,
            AccessProviders providers,
            AuditLog log,
            Rejections rejections,
            MintIds mintIds,
            InstantSource clock,
            Duration patience,
            MintListener listener) {
        Records records = new Records(log);
        RequestEvents events = new RequestEvents(mintIds);
        this.admission =
                new Admission(verifier, issuers, catalogue, rejections, events, clock, listener);
        this.intents = new Intents(records, events, clock, patience.plus(Outcome.TOLERANCE));
        this.mints =
                new Mints(
                        new ProviderCalls(providers, listener), records, clock, patience, listener);
        this.providers = providers;
        this.clock = clock;
    }

    /**
     * The format of a protocol, for {@link MintRequest}.
     *
     * @param outputs names in the protocol's response with the fields that fill them
     */
    public CredentialFormat format(Map<String, String> outputs) {
        return CredentialFormat.of(providers, outputs);
    }

    /** What happens to a request for credentials. */
    public Verdict<Credentials> mint(MintRequest request) {
        // 1. Verify the token, against one state of its tenant, and use it up if it works once.
        Verdict<Admitted> admitted =
                admission
                        .admit(request.token(), request.caller())
                        .then(request.format()::check)
                        .then(one -> admission.redeem(one, request.caller()))
                        .map(one -> told(request, one));
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Instant now = clock.instant();
            // 2. Find the keys, and 3. check the grants. What is refused is on record.
            switch (admitted.then(one -> intents.decide(request, one, now))) {
                case Verdict.Refused<Intent>(Refusal refusal) -> {
                    return Verdict.refused(refusal);
                }
                case Verdict.Passed<Intent>(Intent intent) -> {
                    // 4. Record the intent. Its commit tells the state that the tenant is in.
                    TenantState state = intents.commit(intent, now);
                    admitted = intent.isOf(state) ? admitted : admitAnew(request, intent);
                    Optional<Intent> standing = standing(request, intent, state, admitted, now);
                    if (standing.isPresent()) {
                        // 5. Mint.
                        List<Outcome> outcomes = mints.callProviders(standing.get());
                        // 6. Record the outcome, and only then 7. answer.
                        return mints.conclude(standing.get(), outcomes);
                    }
                    intents.overtaken(intent);
                }
            }
        }
        throw new Unavailable("The tenant's configuration is being changed; try again.", SOON);
    }

    private static Admitted told(MintRequest request, Admitted admitted) {
        request.whenAdmitted().accept(admitted.token().provider().tenant());
        return admitted;
    }

    /** Verifies the token again, against what the tenant is now. */
    private Verdict<Admitted> admitAnew(MintRequest request, Intent intent) {
        try {
            return admission.admitAnew(request.token(), request.caller(), intent.tenant());
        } catch (Unavailable e) {
            intents.notCalled(intent);
            throw e;
        }
    }

    /**
     * The intent as it is after its commit, if the decision is the same in the state that the
     * commit found, and no grant has ended while the log was written.
     */
    private Optional<Intent> standing(
            MintRequest request,
            Intent intent,
            TenantState state,
            Verdict<Admitted> current,
            Instant now) {
        return current instanceof Verdict.Passed<Admitted>(Admitted admitted)
                        && admitted.entitlements().state().equals(state)
                        && Decision.of(admitted, request.keys(), now)
                                instanceof Decision.Allowed(List<Granted> granted)
                        && intent.isFor(granted)
                ? intent.asOf(clock.instant())
                : Optional.empty();
    }

    /** The keys that the token's subject could mint now. */
    public Verdict<KeyList> keys(KeyList.Request request) {
        return admission
                .admit(request.token(), request.caller())
                .then(admitted -> admission.redeem(admitted, request.caller()))
                .then(this::list);
    }

    private Verdict<KeyList> list(Admitted admitted) {
        String subject = admitted.token().subject();
        var idp = admitted.token().provider().name();
        var mintable = admitted.entitlements().mintable(clock.instant());
        return mintable.isEmpty()
                ? Verdict.refused(new AccessRefusal.SubjectNotFound(subject, idp.value()))
                : Verdict.passed(new KeyList(subject, idp, List.copyOf(mintable.values())));
    }
}
