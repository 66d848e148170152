package io.mintmark.broker.http;

import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.AccessRequest;
import io.mintmark.broker.approval.AccessRequest.Asked;
import io.mintmark.broker.approval.AccessRequests.Scope;
import io.mintmark.broker.exchange.Approvals;
import io.mintmark.broker.token.PresentedToken;

import java.util.List;
import java.util.UUID;

/** The endpoints for requests for access (HTTP API section 4.12). */
final class AccessRoutes implements HttpService {
    static final String ALL = "/access-requests";
    static final String ONE = "/access-requests/{id}";
    static final String DECISION = "/access-requests/{id}/decision";

    private static final int ACCEPTED = 202;
    private static final int OK = 200;
    private static final int LENGTH_OF_UUID = 36;
    private static final UUID NO_REQUEST = new UUID(0, 0);

    private final Approvals approvals;
    private final MintRequests requests;
    private final Answers answers;

    AccessRoutes(Approvals approvals, MintRequests requests, Answers answers) {
        this.approvals = approvals;
        this.requests = requests;
        this.answers = answers;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.post(ALL, MatchedRoute.of(ALL, this::ask))
                .get(ALL, MatchedRoute.of(ALL, this::list))
                .get(ONE, MatchedRoute.of(ONE, this::show))
                .delete(ONE, MatchedRoute.of(ONE, this::withdraw))
                .post(DECISION, MatchedRoute.of(DECISION, this::decide));
    }

    private void ask(ServerRequest request, ServerResponse response) {
        Verdict<List<Asked>> verdict =
                AccessBodies.wish(Bodies.json(request))
                        .then(body ->
                                TokenPlaces.inHeaderOrBody(request, body.members())
                                        .then(token ->
                                                approvals.ask(
                                                        requests.call(request, token),
                                                        body.content())));
        answers.sendDone(request, response, ACCEPTED, verdict, AccessAnswers::asked, Refusals::of);
    }

    private void list(ServerRequest request, ServerResponse response) {
        Verdict<List<AccessRequest>> verdict =
                scope(request)
                        .then(scope ->
                                TokenPlaces.inHeaderOrQuery(request)
                                        .then(token ->
                                                approvals.list(
                                                        requests.call(request, token), scope)));
        answers.sendPrivate(request, response, verdict, AccessAnswers::list, Refusals::of);
    }

    private static Verdict<Scope> scope(ServerRequest request) {
        String wanted = request.query().first("for").orElse(Scope.ME.word());
        for (Scope scope : Scope.values()) {
            if (scope.word().equals(wanted)) {
                return Verdict.passed(scope);
            }
        }
        return Verdict.refused(
                new BadField(
                        "for", "The parameter 'for' must be 'me', 'decision' or 'withdrawal'."));
    }

    private void show(ServerRequest request, ServerResponse response) {
        Verdict<AccessRequest> verdict =
                TokenPlaces.inHeaderOrQuery(request)
                        .then(token -> approvals.find(requests.call(request, token), id(request)));
        answers.sendPrivate(request, response, verdict, AccessAnswers::one, Refusals::of);
    }

    private void decide(ServerRequest request, ServerResponse response) {
        Verdict<AccessRequest> verdict =
                AccessBodies.decision(Bodies.json(request))
                        .then(body ->
                                TokenPlaces.inHeaderOrBody(request, body.members())
                                        .then(token -> decide(request, token, body.content())));
        sendChanged(request, response, verdict);
    }

    private Verdict<AccessRequest> decide(
            ServerRequest request, PresentedToken token, AccessBodies.Decided decided) {
        return approvals.decide(
                requests.call(request, token),
                id(request),
                decided.choice(),
                decided.note(),
                decided.shown());
    }

    private void withdraw(ServerRequest request, ServerResponse response) {
        Verdict<AccessRequest> verdict =
                TokenPlaces.inHeader(request)
                        .then(token ->
                                approvals.withdraw(requests.call(request, token), id(request)));
        sendChanged(request, response, verdict);
    }

    private void sendChanged(
            ServerRequest request, ServerResponse response, Verdict<AccessRequest> verdict) {
        answers.sendDone(request, response, OK, verdict, AccessAnswers::one, Refusals::of);
    }

    /** An invalid id names no request. */
    private static UUID id(ServerRequest request) {
        String given = request.path().pathParameters().get("id");
        try {
            return given.length() == LENGTH_OF_UUID ? UUID.fromString(given) : NO_REQUEST;
        } catch (IllegalArgumentException _) {
            return NO_REQUEST;
        }
    }
}
