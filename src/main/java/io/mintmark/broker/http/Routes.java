package io.mintmark.broker.http;

import static java.util.Map.entry;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.config.RateLimitSettings;
import io.mintmark.base.health.HealthReport;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.ClientAddresses;
import io.mintmark.base.http.request.FilterFailures;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.request.TracedRequests;
import io.mintmark.base.http.request.UntrustedProxies;
import io.mintmark.base.limit.ForwardedFor;
import io.mintmark.base.limit.IgnoredForwarding;
import io.mintmark.broker.exchange.Approvals;
import io.mintmark.broker.exchange.Exchange;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.revocation.RevocationLists;
import io.mintmark.broker.token.IdentityProviders;
import io.opentelemetry.api.trace.Tracer;

import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The routes of the public port. */
public final class Routes {
    /** The paths that serve credentials. */
    public static final List<String> OF_CREDENTIALS =
            List.of(
                    "/credentials/mint",
                    "/credentials/keys",
                    SignRoute.PATH,
                    AwsSdkRoute.PATH,
                    StsRoute.PATH,
                    OAuthRoutes.TOKEN,
                    OAuthRoutes.TOKEN_OF_TENANT);

    private static final String POST = "POST, OPTIONS";
    private static final String GET = "GET, OPTIONS";
    private static final String GET_AND_HEAD = "GET, HEAD, OPTIONS";
    private static final String GET_AND_POST = "GET, POST, OPTIONS";
    private static final String GET_AND_DELETE = "GET, DELETE, OPTIONS";

    static final String HEALTH = "/health";

    static final String NO_SUCH_PATH =
            "Unknown path; the HTTP API has POST /credentials/mint, GET /credentials/keys, GET /credentials/idp-providers, GET /health, POST /sign/{key}, GET /sdk/aws/{key}, POST and GET /access-requests, GET and DELETE /access-requests/{id}, POST /access-requests/{id}/decision, POST /sdk/sts, POST /oauth2/token, GET /ssh/{tenant}/krl and GET /x509/{tenant}/{provider}/crl.";

    /** Every path with the methods that it has. */
    static final Map<String, String> METHODS =
            Map.ofEntries(
                    entry("/credentials/mint", POST),
                    entry("/credentials/keys", GET),
                    entry(SignRoute.PATH, POST),
                    entry(AccessRoutes.ALL, GET_AND_POST),
                    entry(AccessRoutes.ONE, GET_AND_DELETE),
                    entry(AccessRoutes.DECISION, POST),
                    entry("/credentials/idp-providers", GET),
                    entry(HEALTH, GET),
                    entry("/openapi", GET),
                    entry("/.well-known/openid-configuration", GET),
                    entry("/.well-known/jwks.json", GET),
                    entry("/tenants/{tenant}/.well-known/openid-configuration", GET),
                    entry("/tenants/{tenant}/.well-known/jwks.json", GET),
                    entry(ResourceMetadataRoutes.METADATA, GET),
                    entry(ResourceMetadataRoutes.OF_TENANT, GET),
                    entry(RevocationRoutes.SSH, GET_AND_HEAD),
                    entry(RevocationRoutes.X509, GET_AND_HEAD));

    /** The methods of endpoints that are not for browsers, by path. */
    static final Map<String, String> METHODS_OF_PROTOCOLS =
            Map.of(
                    AwsSdkRoute.PATH, "GET",
                    StsRoute.PATH, "POST",
                    OAuthRoutes.TOKEN, "POST",
                    OAuthRoutes.TOKEN_OF_TENANT, "POST",
                    OAuthRoutes.METADATA, "GET");

    private final CredentialRoutes credentials;
    private final SignRoute sign;
    private final AccessRoutes access;
    private final AwsSdkRoute awsSdk;
    private final StsRoute sts;
    private final OAuthRoutes oauth;
    private final IssuerRoutes issuer;
    private final ResourceMetadataRoutes logins;
    private final RevocationRoutes revocations;
    private final HealthRoute health;
    private final ClientAddresses addresses;
    private final UntrustedProxies proxies;
    private final AddressLimits limits;
    private final Cors cors;
    private final RequestCount count;
    private final Failures failures;
    private final Answers answers;
    private final ErrorPage page;
    private final Optional<Tracer> tracer;

    /**
     * All routes.
     *
     * @param names the addresses of the broker and of its pages
     * @param identity the signer of the broker's own tokens; empty without a built-in identity
     * @param revocations the lists of revoked certificates
     * @param limits the rate limits, and the proxies whose {@code X-Forwarded-For} is trusted
     * @param corsOrigins the origins of browser applications that may call
     * @param tracer of requests, if they are traced
     */
    public Routes(
            Exchange exchange,
            Approvals approvals,
            IdentityProviders providers,
            BrokerSettings names,
            Optional<BuiltInIdentity> identity,
            RevocationLists revocations,
            HealthReport health,
            RateLimitSettings limits,
            Set<String> corsOrigins,
            InstantSource clock,
            RequestListener listener,
            Optional<Tracer> tracer) {
        this.count = new RequestCount(listener);
        this.tracer = tracer;
        this.addresses = new ClientAddresses(new ForwardedFor(limits.trustedProxies()));
        Optional<URI> url = names.url();
        this.page = new ErrorPage(names.errorPage());
        this.answers = new Answers(clock, listener, addresses, page);
        this.failures = new Failures(answers, listener);
        this.proxies =
                new UntrustedProxies(
                        new IgnoredForwarding(limits.trustedProxies()),
                        listener::forwardingIgnored);
        this.limits = new AddressLimits(limits, addresses, clock);
        this.cors = new Cors(corsOrigins);
        MintRequests requests = new MintRequests(addresses);
        this.credentials = new CredentialRoutes(exchange, providers, requests, answers);
        this.sign = new SignRoute(exchange, requests, answers);
        this.access = new AccessRoutes(approvals, requests, answers);
        this.awsSdk = new AwsSdkRoute(exchange, requests, answers);
        this.sts = new StsRoute(exchange, requests, answers);
        this.oauth = new OAuthRoutes(exchange, requests, answers, url);
        this.issuer = new IssuerRoutes(identity, providers, url, answers);
        this.logins = new ResourceMetadataRoutes(providers, answers, url);
        this.revocations = new RevocationRoutes(revocations, answers, clock);
        this.health = new HealthRoute(health, answers);
    }

    /** The CORS rules, for responses that no route gives. */
    Cors cors() {
        return cors;
    }

    /** The rate limits of addresses, for answers that no route gives. */
    AddressLimits limits() {
        return limits;
    }

    /** The page to which errors link, for answers that no route gives. */
    ErrorPage errorPage() {
        return page;
    }

    public void register(HttpRouting.Builder routing) {
        routing.addFilter(count).addFilter(new RequestIds());
        tracer.ifPresent(one -> routing.addFilter(new TracedRequests(one)));
        routing.addFilter(new AccessLog(addresses))
                .addFilter(new FilterFailures(failures))
                .addFilter(proxies)
                .addFilter(cors)
                .addFilter(new RateLimits(limits, answers))
                .addFilter(new PlainPaths(answers))
                .error(Throwable.class, failures)
                .register("/credentials", credentials)
                .post(SignRoute.PATH, MatchedRoute.of(SignRoute.PATH, sign))
                .get(AwsSdkRoute.PATH, MatchedRoute.of(AwsSdkRoute.PATH, awsSdk))
                .register(access)
                .register(sts)
                .register(oauth)
                .register(issuer)
                .register(logins)
                .register(revocations)
                .get(HEALTH, MatchedRoute.of(HEALTH, health))
                .get("/openapi", MatchedRoute.of("/openapi", new DocumentRoute(answers)));
        METHODS.forEach((path, allowed) ->
                routing.route(
                        Method.OPTIONS,
                        path,
                        MatchedRoute.of(
                                path,
                                (request, response) ->
                                        cors.preflight(request, response, allowed))));
        METHODS.forEach((path, allowed) -> refuseOthers(routing, path, allowed));
        METHODS_OF_PROTOCOLS.forEach((path, allowed) -> refuseOthers(routing, path, allowed));
        routing.any(this::unknown);
    }

    private void refuseOthers(HttpRouting.Builder routing, String path, String allowed) {
        routing.any(
                path,
                MatchedRoute.of(path, (request, response) -> wrong(request, response, allowed)));
    }

    private void wrong(ServerRequest request, ServerResponse response, String allowed) {
        response.header(HeaderValues.create(HeaderNames.ALLOW, allowed));
        answers.send(
                request,
                response,
                ErrorBody.invalidRequest(
                        405, "This path accepts only %s.".formatted(listed(allowed))));
    }

    /** {@code A, B and C}. */
    private static String listed(String allowed) {
        int last = allowed.lastIndexOf(", ");
        return last < 0
                ? allowed
                : allowed.substring(0, last) + " and " + allowed.substring(last + 2);
    }

    private void unknown(ServerRequest request, ServerResponse response) {
        answers.send(request, response, ErrorBody.of(404, "NOT_FOUND", NO_SUCH_PATH));
    }

    /** Reports the response to every request that reaches the routes. */
    private static final class RequestCount implements Filter {
        private final RequestListener listener;

        RequestCount(RequestListener listener) {
            this.listener = listener;
        }

        @Override
        public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
            long began = System.nanoTime();
            int status = AccessLog.CLIENT_LEFT;
            try {
                chain.proceed();
                status = response.status().code();
            } finally {
                listener.answered(
                        MatchedRoute.of(request),
                        status,
                        Duration.ofNanos(System.nanoTime() - began));
            }
        }
    }
}
