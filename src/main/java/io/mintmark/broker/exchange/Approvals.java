package io.mintmark.broker.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.trace.Trace;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.AccessRequest;
import io.mintmark.broker.approval.AccessRequest.Asked;
import io.mintmark.broker.approval.AccessRequest.RowRevisions;
import io.mintmark.broker.approval.AccessRequests;
import io.mintmark.broker.approval.AccessRequests.Choice;
import io.mintmark.broker.approval.AccessRequests.Scope;
import io.mintmark.broker.approval.Person;
import io.mintmark.broker.token.PresentedToken;
import io.mintmark.broker.token.Role;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The use case of requests for access: somebody asks, others decide, and the last needed approval
 * writes a grant. Nothing is minted here.
 *
 * <p>Every method throws {@link io.mintmark.base.verdict.Unavailable} if something that it needs is
 * temporarily unavailable.
 */
public final class Approvals {
    /** Approvers take part in requests, and can't mint. */
    private static final Set<Role> ROLES = Set.of(Role.SUBJECT, Role.APPROVER);

    private final OwnFaults faults;
    private final Admission admission;
    private final TenantRequests tenants;
    private final AccessRequests requests;
    private final MintListener listener;

    Approvals(
            OwnFaults faults,
            Admission admission,
            TenantRequests tenants,
            AccessRequests requests,
            MintListener listener) {
        this.faults = faults;
        this.admission = admission;
        this.tenants = tenants;
        this.requests = requests;
        this.listener = listener;
    }

    /**
     * Who calls.
     *
     * @param requestId the correlation id that the answer carries
     * @param address the client's, not a trusted proxy's
     * @param userAgent as the client sent it
     * @param permit given back when the request's tenant is known and it has to wait
     */
    public record Call(
            String requestId,
            InetAddress address,
            Optional<String> userAgent,
            PresentedToken token,
            RequestPermit permit) {
        private Caller caller() {
            return new Caller(requestId, address, userAgent);
        }
    }

    /**
     * What is asked for.
     *
     * @param keys one to ten, no duplicates
     * @param breakGlass whether only access that is granted at once will do
     */
    public record Wish(List<KeyName> keys, String reason, Duration access, boolean breakGlass) {
        public Wish {
            keys = List.copyOf(keys);
        }
    }

    /** Asks for access to keys. */
    public Verdict<List<Asked>> ask(Call call, Wish wish) {
        return admitted(call)
                .then(one ->
                        one.entitlements().areBlocked()
                                ? Verdict.refused(
                                        new ApprovalRefusal.NotRequestable(
                                                one.token().subject(),
                                                wish.keys().stream().map(KeyName::value).toList(),
                                                "You, or the agent that acts for you, are blocked, so you cannot request access. Ask an admin of the tenant."))
                                : ask(person(one), wish));
    }

    private Verdict<List<Asked>> ask(Person who, Wish wish) {
        Verdict<List<Asked>> asked =
                Trace.step(
                        "request_access",
                        () ->
                                requests.ask(
                                        who,
                                        wish.keys(),
                                        wish.reason(),
                                        wish.access(),
                                        wish.breakGlass()));
        if (asked instanceof Verdict.Passed<List<Asked>>(List<Asked> all)) {
            all.stream()
                    .filter(one -> one.isNew() && one.grantId().isPresent())
                    .forEach(_ -> listener.glassBroken(who.tenant()));
        }
        return asked;
    }

    /** Lists requests in which the caller has a part. */
    public Verdict<List<AccessRequest>> list(Call call, Scope scope) {
        return person(call).map(who -> requests.list(who, scope));
    }

    /** Finds a request in which the caller has a part. */
    public Verdict<AccessRequest> find(Call call, UUID id) {
        return person(call).then(who -> requests.find(who, id));
    }

    /** Approves or refuses a request, or withdraws its access. */
    public Verdict<AccessRequest> decide(
            Call call, UUID id, Choice choice, String note, Optional<RowRevisions> shown) {
        return admitted(call)
                .then(one ->
                        one.entitlements().areBlocked()
                                ? Verdict.refused(
                                        new ApprovalRefusal.NotApprover(
                                                "blocked",
                                                "You are blocked, so you cannot decide requests. Ask an admin of the tenant."))
                                : Trace.step(
                                        "decide_access",
                                        () ->
                                                requests.decide(
                                                        person(one), id, choice, note, shown)));
    }

    /** Withdraws the caller's own request, with the access that it led to. */
    public Verdict<AccessRequest> withdraw(Call call, UUID id) {
        return person(call)
                .then(who -> Trace.step("withdraw_access", () -> requests.withdraw(who, id)));
    }

    private Verdict<Person> person(Call call) {
        return admitted(call).map(Approvals::person);
    }

    private static Person person(Admitted admitted) {
        return Person.of(admitted.token(), admitted.actor());
    }

    private Verdict<Admitted> admitted(Call call) {
        faults.requireNone();
        return admission
                .admit(call.token(), call.caller(), call.permit()::waitsForKeys, ROLES)
                .then(tenants::count)
                .then(admitted -> admission.redeem(admitted, call.caller()));
    }
}
