package io.mintmark.provider.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

class KubernetesTokensTest {
    private static final String DEPLOYER = "'service_account':'shop/deployer'";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final KubernetesStandIn cluster = new KubernetesStandIn(broker.identity()::keySet);

    @Test
    void a_key_gets_a_token_of_its_service_account() throws ParseException {
        Minted minted = broker.minted(order(DEPLOYER, ""));

        assertEquals(
                Set.of("Token", "Server", "Namespace", "Expiration", "Kubeconfig"),
                minted.fields().keySet());
        SignedJWT token = SignedJWT.parse(text(minted, "Token"));
        assertEquals("system:serviceaccount:shop:deployer", token.getJWTClaimsSet().getSubject());
        assertEquals("JTI=" + token.getJWTClaimsSet().getJWTID(), minted.credentialId());
        assertEquals(cluster.url(), text(minted, "Server"));
        assertEquals("shop", text(minted, "Namespace"));
        assertEquals(minted.expiresAt().toString(), text(minted, "Expiration"));
        JsonNode kubeconfig = Orders.json(text(minted, "Kubeconfig"));
        assertEquals(cluster.url(), kubeconfig.at("/clusters/0/cluster/server").asText());
        assertEquals(text(minted, "Token"), kubeconfig.at("/users/0/user/token").asText());
        assertEquals("shop", kubeconfig.at("/contexts/0/context/namespace").asText());
    }

    @Test
    void the_brokers_token_names_the_mint() throws ParseException {
        broker.minted(order(DEPLOYER, ""));

        String bearer = cluster.calls().getFirst().authorization().replace("Bearer ", "");
        assertEquals(
                Orders.MINT_ID.toString(), SignedJWT.parse(bearer).getJWTClaimsSet().getJWTID());
    }

    @Test
    void a_request_has_what_the_key_says_and_nothing_else() {
        broker.minted(
                order(DEPLOYER + ",'audiences':['vault','db'],'bound_secret':'kill-switch'", "")
                        .lasting(Duration.ofMinutes(15)));

        assertEquals(
                Orders.json(
                        "{'apiVersion':'authentication.k8s.io/v1','kind':'TokenRequest','spec':{'expirationSeconds':900,'audiences':['vault','db'],'boundObjectRef':{'apiVersion':'v1','kind':'Secret','name':'kill-switch'}}}"),
                cluster.calls().getFirst().body());
    }

    @Test
    void a_lifetime_that_would_be_made_a_year_is_not_asked_for() {
        Minted minted = broker.minted(order(DEPLOYER, "").lasting(Duration.ofSeconds(3607)));

        assertLives(3606, minted);
    }

    @Test
    void a_server_may_shorten_the_lifetime() {
        cluster.shorten(700);

        assertLives(700, broker.minted(order(DEPLOYER, "")));
    }

    @Test
    void a_service_accounts_token_is_read_from_its_file() {
        broker.secret("kubernetes-token", KubernetesStandIn.SERVICE_ACCOUNT_TOKEN + "\n");

        broker.minted(order(DEPLOYER, ",'auth':'token','token':{'file':'kubernetes-token'}"));

        assertEquals(
                "Bearer " + KubernetesStandIn.SERVICE_ACCOUNT_TOKEN,
                cluster.calls().getFirst().authorization());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'service_account':'shop/other'                          | `` | PROVIDER_REJECTED        | cannot create resource
                    'service_account':'shop/gone'                           | `` | PROVIDER_MISCONFIGURED   | serviceaccounts "gone" not found (HTTP 404)
                    'service_account':'shop/deployer','bound_secret':'none' | `` | PROVIDER_MISCONFIGURED   | secrets "none" not found (HTTP 404)
                    'service_account':'shop/deployer'                       | ,'audience':'other' | BROKER_IDENTITY_REJECTED | Unauthorized (HTTP 401)
                    """)
    void what_a_server_refuses_has_its_reason(
            String key, String provider, Reason reason, String told) {
        broker.assertFailed(reason, told, order(key, provider));
    }

    @Test
    void a_lifetime_under_ten_minutes_is_misconfigured() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "HTTP 422",
                order(DEPLOYER, "").lasting(Duration.ofSeconds(599)));
    }

    @ParameterizedTest
    @CsvSource({
        "400, PROVIDER_MISCONFIGURED",
        "405, PROVIDER_MISCONFIGURED",
        "409, PROVIDER_ERROR",
        "500, PROVIDER_ERROR",
    })
    void other_errors_have_their_reason(int status, Reason reason) {
        cluster.refusing(status);

        assertEquals(reason, broker.failed(order(DEPLOYER, "")).reason());
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void a_server_that_is_busy_is_asked_again(int status) {
        cluster.refusing(status);

        broker.minted(order(DEPLOYER, ""));

        assertEquals(2, cluster.calls().size());
    }

    @Test
    void a_token_that_is_not_what_was_asked_for_is_withheld() {
        assertWithheld(status -> status.remove("expirationTimestamp"), "no valid status");
        assertWithheld(
                status ->
                        status.put("expirationTimestamp", Instant.now().plusSeconds(60).toString()),
                "valid for longer than the response says");
        assertWithheld(status -> status.put("token", "opaque"), "isn't for the service account");
        assertWithheld(
                status ->
                        status.put(
                                "token",
                                text(
                                        broker.minted(order(DEPLOYER + ",'audiences':['db']", "")),
                                        "Token")),
                "audiences are not the requested");
    }

    private void assertWithheld(Consumer<ObjectNode> change, String told) {
        cluster.changing(answer -> change.accept((ObjectNode) answer.get("status")));

        Withheld withheld = broker.withheld(order(DEPLOYER + ",'audiences':['vault']", ""));

        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertTrue(withheld.detail().contains(told), withheld.detail());
    }

    @Test
    void an_answer_without_a_token_is_an_error() {
        cluster.changing(answer -> answer.remove("status"));

        assertEquals(Reason.PROVIDER_ERROR, broker.failed(order(DEPLOYER, "")).reason());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'service_account':'deployer'                    | `` | 'service_account' must have the form namespace/name
                    'service_account':'shop/../x'                   | `` | 'service_account' must have the form namespace/name
                    'service_account':'shop/a','bound_secret':'a/b' | `` | 'bound_secret' must be the name of a Kubernetes Secret
                    'audiences':['a']                               | `` | 'service_account' is missing
                    'service_account':'shop/a'                      | ,'auth':'token' | 'token' is missing, and auth 'token' needs it
                    'service_account':'shop/a'                      | ,'token':{'file':'x'} | 'token' is set, but auth 'broker' doesn't use it
                    'service_account':'shop/a'                      | ,'auth':'token','token':{'file':'x'} | 'token' refers to SECRETS_DIR/acme/x, which doesn't exist
                    'service_account':'shop/a'                      | ,'auth':'client' | 'auth' must be one of broker, token, not 'client'
                    'service_account':'shop/a'                      | ,'ca_certificate':'x' | ca_certificate isn't a certificate in PEM
                    """)
    void settings_that_cannot_work_are_reported_before_anything_is_sent(
            String key, String provider, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(key, provider));
        assertEquals(List.of(), cluster.calls());
    }

    @Test
    void account_and_audiences_are_what_the_provider_limits() {
        Orders order = order(DEPLOYER + ",'audiences':['vault']", "");

        broker.minted(order.allowing("shop/*", "vault"));
        assertTrue(
                broker.failed(order.allowing("shop/*"))
                        .detail()
                        .startsWith("the key's target is 'vault'"));
        assertTrue(
                broker.failed(order.allowing("shop/other", "vault"))
                        .detail()
                        .startsWith("the key's target is 'shop/deployer'"));
    }

    private static void assertLives(int seconds, Minted minted) {
        Duration life = Duration.between(Instant.now(), minted.expiresAt());
        assertTrue(Math.abs(life.toSeconds() - seconds) <= 20, life::toString);
    }

    private static String text(Minted minted, String field) {
        Secret value = minted.fields().get(field);
        return Objects.requireNonNull(value).reveal();
    }

    private Orders order(String key, String provider) {
        return Orders.of(
                "kubernetes",
                "{'server':'%s'%s}".formatted(cluster.url(), provider),
                "{" + key + "}");
    }
}
