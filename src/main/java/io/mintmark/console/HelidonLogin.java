package io.mintmark.console;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.SetCookie;
import io.helidon.http.Status;
import io.helidon.security.AuthenticationResponse;
import io.helidon.security.EndpointConfig;
import io.helidon.security.Security;
import io.helidon.security.SecurityEnvironment;
import io.helidon.security.jwt.jwk.JwkKeys;
import io.helidon.security.providers.oidc.OidcFeature;
import io.helidon.security.providers.oidc.OidcProvider;
import io.helidon.security.providers.oidc.common.OidcConfig;
import io.helidon.security.providers.oidc.common.OidcConfig.ClientAuthentication;
import io.helidon.security.providers.oidc.common.OidcCookieHandler;
import io.helidon.security.providers.oidc.common.PkceChallengeMethod;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.json.StrictJson;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The parts of Helidon's OIDC provider that the console uses: the redirect to the identity provider
 * with state and nonce, the exchange of the code, and encrypted cookies. The console checks each
 * request before the library sees it, and decides itself who gets access and where a browser goes
 * next (docs/internals/decisions/console-login.md).
 */
final class HelidonLogin {
    static final String REDIRECT = "/oidc/redirect";

    /** The path to which the library sends a browser after the exchange of its code. */
    static final String DONE = "/oidc/done";

    /** The path of the answer to a code that the library couldn't exchange. */
    static final String FAILED = "/oidc/failed";

    private static final String PURPOSE = "mintmark console login";

    static final String LOGGED_OUT = "/oidc/logged-out";

    /** The parameter of {@link #DONE} that contains the address of the requested page. */
    static final String TO = "to";

    /** The library takes other configurations by this parameter; the console has one. */
    static final String TENANT_PARAMETER = "h_tenant";

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int LONGEST_STATE = 8_192;

    private final URI console;
    private final OidcConfig config;
    private final SessionCookie session;
    private final Security security;

    /**
     * The response that starts a login.
     *
     * @param location of the identity provider
     * @param cookie that the browser must return
     */
    record Beginning(String location, String cookie) {
        void send(ServerResponse response) {
            response.status(Status.SEE_OTHER_303)
                    .header(HeaderNames.LOCATION, location)
                    .header(HeaderNames.SET_COOKIE, cookie)
                    .send();
        }
    }

    /**
     * @param console where browsers reach the console
     */
    HelidonLogin(
            URI console,
            LoginEndpoints endpoints,
            String clientId,
            String clientSecret,
            CookieKey key) {
        this.console = console;
        this.session = new SessionCookie(prefix(console), isSecure(console), key);
        this.config = configuration(console, endpoints, clientId, clientSecret, key);
        this.security =
                Security.builder()
                        .addProvider(
                                OidcProvider.builder()
                                        .oidcConfig(config)
                                        .discoverTenantConfigProviders(false)
                                        .discoverTenantIdProviders(false)
                                        .build())
                        .build();
    }

    private static boolean isSecure(URI console) {
        return "https".equals(console.getScheme());
    }

    /** RFC 6265bis section 4.1.3.2: browsers take such a cookie from this host only. */
    private static String prefix(URI console) {
        return isSecure(console) ? "__Host-mintmark-" : "mintmark-";
    }

    private static OidcConfig configuration(
            URI console,
            LoginEndpoints endpoints,
            String clientId,
            String clientSecret,
            CookieKey key) {
        boolean secure = isSecure(console);
        String prefix = prefix(console);
        return OidcConfig.builder()
                .identityUri(URI.create(endpoints.issuer()))
                .issuer(endpoints.issuer())
                .oidcMetadataWellKnown(false)
                .authorizationEndpointUri(endpoints.authorization())
                .tokenEndpointUri(endpoints.token())
                .logoutEndpointUri(endpoints.endSession().orElse(endpoints.authorization()))
                // the library would never fetch them again; the console checks with its own
                .signJwk(JwkKeys.builder().build())
                .clientId(clientId)
                .clientSecret(clientSecret)
                .tokenEndpointAuthentication(
                        endpoints.takesSecretInForm()
                                ? ClientAuthentication.CLIENT_SECRET_POST
                                : ClientAuthentication.CLIENT_SECRET_BASIC)
                .pkceEnabled(true)
                .pkceChallengeMethod(PkceChallengeMethod.S256)
                .clientTimeout(TIMEOUT)
                .baseScopes("openid profile email")
                .frontendUri(console.toString())
                .forceHttpsRedirects(secure)
                .redirectUri(REDIRECT)
                .logoutEnabled(false)
                .useHeader(false)
                .useParam(false)
                .paramTenantName(TENANT_PARAMETER)
                .useCookie(true)
                .cookieEncryptionPassword(key.passwordFor(PURPOSE))
                .cookieEncryptionEnabled(true)
                .cookieEncryptionEnabledIdToken(true)
                .cookieEncryptionEnabledRefreshToken(true)
                .cookieEncryptionEnabledTenantName(true)
                .cookieEncryptionEnabledState(true)
                .cookieHttpOnly(true)
                .cookieSecure(secure)
                // the browser comes back from another site
                .cookieSameSite(SetCookie.SameSite.LAX)
                .cookiePath("/")
                .cookieNameIdToken(prefix + "token")
                .cookieNameState(prefix + "login")
                .cookieName(prefix + "access")
                .cookieNameRefreshToken(prefix + "refresh")
                .cookieTenantName(prefix + "tenant")
                .build();
    }

    /** The endpoint that the identity provider sends browsers back to. */
    OidcFeature redirectEndpoint() {
        return OidcFeature.builder().config(config).discoverTenantConfigProviders(false).build();
    }

    /** Starts a login; the library only learns the address to return to. */
    Beginning begin(LocalAddress to) {
        String next = DONE + "?" + TO + "=" + URLEncoder.encode(to.text(), StandardCharsets.UTF_8);
        AuthenticationResponse answer =
                security.contextBuilder(UUID.randomUUID().toString())
                        .env(
                                SecurityEnvironment.builder()
                                        .method("get")
                                        .transport(console.getScheme())
                                        .targetUri(console.resolve(DONE))
                                        .path(DONE)
                                        .header(Security.HEADER_ORIG_URI, next)
                                        .build())
                        .endpointConfig(EndpointConfig.create())
                        .build()
                        .atnClientBuilder()
                        .submit();
        Map<String, List<String>> headers = answer.responseHeaders();
        return new Beginning(
                only(headers, HeaderNames.LOCATION.defaultCase()),
                only(headers, HeaderNames.SET_COOKIE.defaultCase()));
    }

    private static String only(Map<String, List<String>> headers, String name) {
        List<String> values = headers.getOrDefault(name, List.of());
        if (values.size() != 1) {
            throw new IllegalStateException(
                    "the login has %d %s headers instead of one".formatted(values.size(), name));
        }
        return values.getFirst();
    }

    /** The cookie of the sessions that logins begin. */
    SessionCookie session() {
        return session;
    }

    /**
     * Takes the ID token that the library exchanged the code for out of the library's response. It
     * is no session yet. All of the library's cookies go: the access token and the refresh token
     * are of no use here, and together they are more than reverse proxies take.
     */
    Optional<String> takeExchanged(ServerResponseHeaders headers) {
        String name = config.idTokenCookieHandler().cookieName() + "=";
        Optional<String> token =
                headers.values(HeaderNames.SET_COOKIE).stream()
                        .filter(cookie -> cookie.startsWith(name))
                        .map(cookie -> cookie.substring(0, (cookie + ";").indexOf(';')))
                        .findFirst()
                        .flatMap(cookie -> read(config.idTokenCookieHandler(), List.of(cookie)));
        headers.remove(HeaderNames.SET_COOKIE);
        return token;
    }

    /** The state of the login that this browser began, if this console encrypted it. */
    Optional<String> state(ServerRequest request) {
        return read(config.stateCookieHandler(), request.headers().values(HeaderNames.COOKIE))
                .flatMap(HelidonLogin::json)
                .map(json -> json.path("state").asText())
                .filter(state -> !state.isEmpty());
    }

    /** Reads a cookie. An invalid one is treated like a missing one. */
    private static Optional<String> read(OidcCookieHandler cookie, List<String> cookies) {
        try {
            return cookie.findCookie(Map.of(HeaderNames.COOKIE.defaultCase(), cookies));
        } catch (RuntimeException _) {
            return Optional.empty();
        }
    }

    private static Optional<ObjectNode> json(String base64) {
        try {
            return StrictJson.object(Base64.getDecoder().decode(base64), LONGEST_STATE);
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /** Cookies that remove everything that the library leaves in the browser. */
    List<SetCookie> withoutLeftovers() {
        return List.of(
                config.idTokenCookieHandler().removeCookie().build(),
                config.tokenCookieHandler().removeCookie().build(),
                config.refreshTokenCookieHandler().removeCookie().build(),
                config.tenantCookieHandler().removeCookie().build(),
                config.stateCookieHandler().removeCookie().build());
    }
}
