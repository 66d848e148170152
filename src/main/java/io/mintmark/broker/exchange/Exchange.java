package io.mintmark.broker.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Receipt;
import io.mintmark.audit.Rejections;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.AccessRequests;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.CallerKey;
import io.mintmark.provider.Outputs;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The use case: exchanges a token for credentials, and records everything before the client gets
 * the result.
 *
 * <p>Every method throws {@link Unavailable} if something that it needs is temporarily unavailable;
 * no credential was handed out then.
 */
public final class Exchange {
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final OwnFaults faults;
    private final Admission admission;
    private final TenantRequests requests;
    private final Intents intents;
    private final Mints mints;
    private final AccessProviders providers;
    private final Clocks clocks;
    private final MintListener listener;
    private final Withdrawals withdrawals;

    /**
     * @param clocks of this replica and the database
     * @param timeout how long the access providers of a request may take together
     * @param withdrawn access that ended before its time, for refusals to name
     */
    public Exchange(
            TokenVerifier verifier,
            KnownIssuers issuers,
            Catalogue catalogue,
            AccessProviders providers,
            AuditLog log,
            Rejections rejections,
            MintIds mintIds,
            Clocks clocks,
            Duration timeout,
            MintListener listener,
            Withdrawals.Store withdrawn) {
        Records records = new Records(log);
        RequestEvents events = new RequestEvents(mintIds);
        InstantSource clock = clocks.own();
        Undoing undoing = new Undoing(records, clock, timeout);
        this.faults = new OwnFaults(clocks, log, rejections);
        this.admission =
                new Admission(verifier, issuers, catalogue, rejections, events, clock, listener);
        this.requests = new TenantRequests(clock, System::nanoTime);
        this.intents = new Intents(records, events, clock, timeout.plus(Outcome.TOLERANCE));
        this.mints =
                new Mints(
                        new ProviderCalls(providers, undoing, clock, listener),
                        undoing,
                        records,
                        clock,
                        timeout,
                        listener);
        this.providers = providers;
        this.clocks = clocks;
        this.listener = listener;
        this.withdrawals = new Withdrawals(withdrawn);
    }

    /**
     * The format of a protocol, for {@link MintRequest}.
     *
     * @param outputs names in the protocol's response with the fields that fill them
     */
    public CredentialFormat format(Map<String, String> outputs) {
        return format(outputs, Map.of());
    }

    /**
     * A format with further names for fields that not every credential has.
     *
     * @param outputs names in the protocol's response with the fields that fill them
     * @param optional the same; a name is left out if the credential lacks its field
     */
    public CredentialFormat format(Map<String, String> outputs, Map<String, String> optional) {
        return CredentialFormat.of(providers, new Outputs(outputs, optional));
    }

    /** The use case of requests for access, with the same tokens and the same limits. */
    public Approvals approvals(AccessRequests store) {
        return new Approvals(faults, admission, requests, store, listener);
    }

    /** Handles a request for credentials. */
    public Verdict<Credentials> mint(MintRequest request) {
        faults.requireNone();
        // 1. Verify the token, against one state of its tenant, which may have limits. Use it up if
        // it works once, after every refusal that asks the client to try again.
        Verdict<Admitted> admitted =
                admission
                        .admit(request.token(), request.caller(), request.permit()::waitsForKeys)
                        .then(requests::count)
                        .then(request.format()::check)
                        .map(one -> admitted(request, one))
                        .then(one -> admission.redeem(one, request.caller()));
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            TimeBounds now = clocks.now();
            Instant begun = clocks.own().instant();
            // 2. Find the keys, and 3. check the grants. What is refused is on record.
            switch (admitted.then(one -> intents.decide(request, one, now))
                    .then(intent -> mints.feasible(intent, request.format()))) {
                case Verdict.Refused<Intent>(Refusal refusal) -> {
                    return Verdict.refused(withdrawals.addTo(refusal, admitted));
                }
                case Verdict.Passed<Intent>(Intent intent) -> {
                    // 4. Record the intent. Its commit shows the state that the tenant is in.
                    DecisionCheck standing =
                            new DecisionCheck(admission, request, intent, now, clocks);
                    Optional<Intent> recorded = record(intent, standing);
                    // 5. Mint, as long as the decision stands. 6. Record the outcome.
                    Optional<Verdict<Credentials>> answer =
                            recorded.flatMap(one -> mints.mint(one, begun, standing));
                    if (answer.isPresent()) {
                        // 7. Answer.
                        return answer.get();
                    }
                    admitted = standing.admitted();
                }
            }
        }
        throw new Unavailable("The tenant's configuration is being changed; try again.", SOON);
    }

    /** Mints a certificate for a public key of the client. */
    public Verdict<Credentials> sign(MintRequest request, String publicKey) {
        return CallerKey.of(publicKey).then(key -> mint(request.certifying(key)));
    }

    private static Admitted admitted(MintRequest request, Admitted admitted) {
        request.permit().isAdmitted(admitted.token().provider().tenant());
        return admitted;
    }

    /** The intent after it was recorded, if the decision still holds then. */
    private Optional<Intent> record(Intent intent, DecisionCheck standing) {
        Receipt receipt = intents.commit(intent);
        try {
            Optional<Intent> recorded = standing.after(receipt);
            if (recorded.isEmpty()) {
                intents.overtaken(intent);
            }
            return recorded;
        } catch (Unavailable e) {
            intents.notCalled(intent);
            throw e;
        }
    }

    /** The keys that the token's subject could mint now. */
    public Verdict<KeyList> keys(KeyList.Request request) {
        faults.requireNone();
        return admission
                .admit(request.token(), request.caller(), request.permit()::waitsForKeys)
                .then(requests::count)
                .then(admitted -> admission.redeem(admitted, request.caller()))
                .then(this::list);
    }

    private Verdict<KeyList> list(Admitted admitted) {
        String subject = admitted.token().subject();
        var idp = admitted.token().provider().name();
        var mintable = admitted.entitlements().mintable(clocks.now());
        return mintable.isEmpty()
                ? Verdict.refused(
                        new AccessRefusal.SubjectNotFound(
                                subject, idp.value(), admitted.actor().map(VerifiedActor::subject)))
                : Verdict.passed(new KeyList(subject, idp, List.copyOf(mintable.values())));
    }
}
