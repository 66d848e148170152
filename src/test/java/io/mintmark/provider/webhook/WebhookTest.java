package io.mintmark.provider.webhook;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.identity.NoSigningKeys;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevoker.Place;
import io.mintmark.provider.LeaseRevoker.RevocationOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.Outputs;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.webhook.WebhookStandIn.Call;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

class WebhookTest {
    private static final String ID = Orders.MINT_ID.toString();
    private static final String TARGET = "'target':'registry/push'";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final WebhookStandIn service =
            new WebhookStandIn(MintingBroker.ISSUER, broker.identity()::keySet);

    @Test
    void a_key_gets_the_values_of_its_service() {
        Minted minted = broker.minted(order(TARGET));

        assertEquals(Set.of("APP_USER", "APP_PASSWORD", "Expiration"), minted.fields().keySet());
        assertEquals(new Secret("user-0"), minted.fields().get("APP_USER"));
        assertEquals(new Secret(minted.expiresAt().toString()), minted.fields().get("Expiration"));
        assertEquals("credential:" + ID, minted.credentialId());
        Duration life = Duration.between(Instant.now(), minted.expiresAt());
        assertTrue(Math.abs(life.toSeconds() - 3600) <= 20, life::toString);
    }

    @Test
    void the_service_is_told_what_to_make_and_not_for_whom() {
        broker.minted(order(TARGET + ",'parameters':{'repository':'shop'}"));

        ObjectNode body = (ObjectNode) Orders.json(service.calls().getFirst().body());
        Instant deadline = Instant.parse(body.remove("deadline").asText());
        assertTrue(deadline.isAfter(Instant.now()) && deadline.isBefore(later()));
        assertEquals(
                Orders.json(
                        "{'version':1,'tenant':'acme','provider':'cloud','key':'deploy','target':'registry/push','mintId':'%s','duration':3600,'parameters':{'repository':'shop'}}"
                                .formatted(ID)),
                body);
    }

    @Test
    void the_subject_is_sent_if_the_key_wants_that() {
        broker.minted(order(TARGET + ",'send_subject':true"));

        JsonNode body = Orders.json(service.calls().getFirst().body());
        assertEquals("repo:acme/app:ref:refs/heads/main", body.path("subject").asText());
        assertEquals("github", body.path("idp").asText());
    }

    @Test
    void the_token_proves_one_request_and_lives_for_five_minutes() throws ParseException {
        broker.minted(order(TARGET));

        Call call = service.calls().getFirst();
        var claims =
                SignedJWT.parse(call.authorization().substring("Bearer ".length()))
                        .getJWTClaimsSet();
        assertEquals("PUT", claims.getClaim("htm"));
        assertEquals(service.url() + "/" + ID, claims.getClaim("htu"));
        assertEquals("tenant:acme:key:deploy", claims.getSubject());
        assertEquals(ID, claims.getJWTID());
        assertEquals(
                Duration.ofMinutes(5),
                Duration.between(
                        claims.getIssueTime().toInstant(), claims.getExpirationTime().toInstant()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    400 | {}                          | PROVIDER_MISCONFIGURED
                    401 | {'reason':'rejected'}       | BROKER_IDENTITY_REJECTED
                    403 | {}                          | PROVIDER_REJECTED
                    403 | {'reason':'misconfigured'}  | PROVIDER_MISCONFIGURED
                    404 | {}                          | PROVIDER_MISCONFIGURED
                    405 | {}                          | PROVIDER_MISCONFIGURED
                    409 | {'reason':'misconfigured'}  | PROVIDER_ERROR
                    410 | {}                          | PROVIDER_ERROR
                    415 | {}                          | PROVIDER_MISCONFIGURED
                    422 | {}                          | PROVIDER_MISCONFIGURED
                    422 | {'reason':'rejected'}       | PROVIDER_REJECTED
                    422 | {'reason':'something'}      | PROVIDER_MISCONFIGURED
                    422 | {'reason':7}                | PROVIDER_MISCONFIGURED
                    500 | {}                          | PROVIDER_ERROR
                    500 | {'reason':'throttled'}      | PROVIDER_THROTTLED
                    500 | {'reason':'unavailable'}    | PROVIDER_ERROR
                    500 | not JSON                    | PROVIDER_ERROR
                    """)
    void every_error_has_its_reason(int status, String body, Reason reason) {
        service.next(WebhookStandIn.saying(status, body));

        broker.assertFailed(reason, order(TARGET).within(Duration.ofSeconds(2)));
    }

    @Test
    void what_the_service_says_is_for_the_audit_log_without_secrets() {
        service.next((exchange, _) -> {
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            WebhookStandIn.saying(422, "{'detail':'I saw %s'}".formatted(token.substring(7)))
                    .with(exchange, new byte[0]);
        });

        assertTrue(
                broker.failed(order(TARGET)).detail().startsWith("I saw [secret] (HTTP 422) (http"),
                "detail");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void what_passes_soon_is_tried_again(int status) {
        service.next(WebhookStandIn.saying(status, "{}", "Retry-After", "0"));

        broker.minted(order(TARGET));

        assertEquals(2, service.calls().size());
        assertEquals(service.calls().getFirst(), service.calls().getLast());
    }

    @Test
    void a_lost_answer_is_asked_for_again_and_is_the_same_credential() {
        service.next(service.forgettingToAnswer());

        broker.minted(order(TARGET));

        assertEquals(2, service.calls().size());
        assertEquals(Set.of(ID), service.live());
    }

    @Test
    void a_connection_that_breaks_twice_is_not_tried_a_third_time() {
        service.next(WebhookStandIn.dropping(), WebhookStandIn.dropping());

        broker.assertFailed(Reason.PROVIDER_UNREACHABLE, order(TARGET));
        assertEquals(2, service.calls().size());
    }

    @Test
    void a_service_that_hangs_is_waited_for_until_the_deadline() {
        service.next(service.hanging());

        broker.assertFailed(Reason.PROVIDER_TIMEOUT, order(TARGET).within(Duration.ofMillis(500)));
        assertEquals(1, service.calls().size());
    }

    @Test
    void redirects_compression_and_long_answers_are_refused() {
        service.next(
                WebhookStandIn.saying(307, "{}", "Location", service.url()),
                WebhookStandIn.saying(201, "{}", "Content-Encoding", "gzip"),
                WebhookStandIn.saying(201, "x".repeat((64 << 10) + 1)));
        for (int i = 0; i < 3; i++) {
            assertEquals(Reason.PROVIDER_ERROR, broker.failed(order(TARGET)).reason());
        }
        assertEquals(3, service.calls().size());
    }

    @Test
    void an_answer_that_is_not_what_it_should_be_is_withheld_and_can_be_ended() {
        assertWithheld(a -> a.remove("values"), "values aren't an object of strings");
        assertWithheld(a -> a.put("values", "x"), "values aren't an object of strings");
        assertWithheld(a -> values(a).put("APP_USER", 7), "values aren't an object of strings");
        assertWithheld(a -> values(a).putNull("APP_USER"), "values aren't an object of strings");
        assertWithheld(a -> values(a).remove("APP_USER"), "lacks the value 'APP_USER'");
        assertWithheld(a -> values(a).put("APP_USER", ""), "a value is empty");
        assertWithheld(a -> values(a).put("APP_USER", "a\rb"), "control characters");
        assertWithheld(a -> values(a).put("APP_USER", "a\u0000b"), "control characters");
        assertWithheld(a -> values(a).put("APP_USER", "a\u0085b"), "control characters");
        assertWithheld(
                a -> values(a).put("APP_USER", "é".repeat((8 << 10) + 1)), "more than 16 KiB");
        assertWithheld(WebhookTest::fill, "more than 32 values");
        assertWithheld(a -> a.remove("expiresAt"), "no valid expiresAt");
        assertWithheld(a -> a.put("expiresAt", "soon"), "no valid expiresAt");
        assertWithheld(a -> a.put("expiresAt", 4102444800L), "no valid expiresAt");
        assertWithheld(
                a -> a.remove("credentialId"), "credentialId in the response must have 1 to 255");
        assertWithheld(
                a -> a.put("credentialId", 7), "credentialId in the response must have 1 to 255");
        assertWithheld(
                a -> a.put("credentialId", "a b"),
                "credentialId in the response must have 1 to 255");
        assertWithheld(
                a -> a.put("credentialId", "x".repeat(256)),
                "credentialId in the response must have 1 to 255");
        assertWithheld(a -> a.put("endsByItself", "yes"), "endsByItself");
    }

    @Test
    void the_largest_answer_that_may_be_is_handed_out() {
        service.next(
                service.changing(a -> {
                    values(a).put("APP_USER", "é".repeat(8 << 10));
                    for (int i = 2; i < 32; i++) {
                        values(a).put("V" + i, "\ttab\nline");
                    }
                    a.put("endsByItself", true).put("further", "x");
                }));

        Minted minted = broker.minted(order(TARGET));

        // what the access provider doesn't list is not handed out
        assertEquals(Set.of("APP_USER", "APP_PASSWORD", "Expiration"), minted.fields().keySet());
        assertTrue(minted.endsByItself());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    201 | {'values':{'APP_USER':'a','APP_USER':'b'}}  | JSON object without duplicate fields
                    201 | {'values':{}} trailing                      | JSON object without duplicate fields
                    200 | []                                          | JSON object without duplicate fields
                    200 | ``                                          | JSON object without duplicate fields
                    202 | {'values':{'APP_USER':'a'}}                 | neither 200 nor 201
                    204 | ``                                          | JSON object without duplicate fields
                    500 | {'values':{'APP_USER':'a'}}                 | neither 200 nor 201
                    409 | {'values':{'APP_USER':'a'}}                 | neither 200 nor 201
                    """)
    void what_may_be_a_credential_is_withheld(int status, String body, String told) {
        service.next(WebhookStandIn.saying(status, body));

        Withheld withheld = broker.withheld(order(TARGET));

        assertShows(withheld.detail(), told);
        assertEquals(ID, withheld.credentialId());
        assertEquals(Optional.empty(), withheld.undo());
    }

    @Test
    void deep_nesting_is_withheld() {
        service.next(WebhookStandIn.saying(201, "[".repeat(20_000) + "]".repeat(20_000)));

        assertShows(
                broker.withheld(order(TARGET)).detail(), "JSON object without duplicate fields");
    }

    @Test
    void a_value_with_the_brokers_token_is_withheld() {
        service.next((exchange, body) -> {
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            service.changing(a -> values(a).put("APP_USER", "x" + token.substring(7)))
                    .with(exchange, body);
        });

        Withheld withheld = broker.withheld(order(TARGET));

        assertTrue(
                withheld.detail().startsWith("a value contains the broker's own token"),
                withheld.detail());
    }

    @ParameterizedTest
    @ValueSource(strings = {"APP-77", "s3cret-PASSWORD-77", "PASSWORD", "id:s3cret-PASSWORD-77"})
    void an_id_that_tells_something_of_a_value_is_recorded_as_its_hash(String id) {
        service.next(
                service.changing(a -> {
                    values(a).put("APP_USER", "APP-77").put("APP_PASSWORD", "s3cret-PASSWORD-77");
                    a.put("credentialId", id);
                }));

        assertEquals(
                HexFormat.of().formatHex(new Secret(id).hash()),
                broker.minted(order(TARGET)).credentialId());
    }

    @Test
    void an_id_with_the_password_in_base64_is_recorded_as_its_hash() {
        service.next(
                service.changing(a -> {
                    values(a).put("APP_PASSWORD", "correct horse battery staple");
                    a.put("credentialId", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5");
                }));

        assertEquals(64, broker.minted(order(TARGET)).credentialId().length());
    }

    @Test
    void an_id_with_a_piece_of_the_token_is_withheld_under_the_mint_id() {
        service.next((exchange, body) -> {
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            service.changing(a -> a.put("credentialId", token.substring(40, 80)))
                    .with(exchange, body);
        });

        assertEquals(ID, broker.withheld(order(TARGET)).credentialId());
    }

    @Test
    void a_mint_ends_by_deleting_it_however_often() {
        Minted minted = broker.minted(order(TARGET));
        assertFalse(minted.endsByItself());

        assertEquals("HTTP 204", end("{}").detail());
        assertEquals(Set.of(), service.live());
        assertTrue(end("{}") instanceof LeaseRevocation.Gone);

        Call call = service.calls().getLast();
        assertEquals("DELETE", call.method());
        assertEquals("", call.body());
    }

    @Test
    void the_ender_deletes_with_a_token_of_the_access_provider() throws ParseException {
        broker.minted(order(TARGET));

        assertEquals(new LeaseRevocation.Gone("HTTP 204"), end("{}"));

        assertEquals(Set.of(), service.live());
        var claims =
                SignedJWT.parse(service.calls().getLast().authorization().substring(7))
                        .getJWTClaimsSet();
        assertEquals("tenant:acme:provider:apps", claims.getSubject());
        assertEquals(new LeaseRevocation.Gone("HTTP 404"), end("{}"));
        service.next(WebhookStandIn.saying(410, "{}"));
        assertEquals(new LeaseRevocation.Gone("HTTP 410"), end("{}"));
    }

    @ParameterizedTest
    @CsvSource({
        "200, PROVIDER_ERROR, false",
        "202, PROVIDER_ERROR, false",
        "401, BROKER_IDENTITY_REJECTED, true",
        "403, PROVIDER_REJECTED, false",
        "405, PROVIDER_MISCONFIGURED, true",
        "500, PROVIDER_ERROR, false",
        "502, PROVIDER_ERROR, true",
    })
    void another_answer_means_that_it_might_still_work(
            int status, Reason reason, boolean delaysOthers) {
        service.next(WebhookStandIn.saying(status, "{'detail':'later'}"));

        LeaseRevocation ended = end("{}");

        String detail = ended.detail();
        assertTrue(detail.startsWith("later (HTTP " + status), detail);
        assertEquals(
                delaysOthers
                        ? new LeaseRevocation.NotYet(reason, detail)
                        : new LeaseRevocation.Stuck(reason, detail),
                ended);
    }

    @Test
    void a_service_that_is_gone_or_misconfigured_has_not_ended_anything() {
        service.next(WebhookStandIn.dropping(), WebhookStandIn.dropping());
        assertEquals(Reason.PROVIDER_UNREACHABLE, ((LeaseRevocation.NotYet) end("{}")).reason());

        LeaseRevocation.NotYet notYet = (LeaseRevocation.NotYet) end("{'fields':[]}");

        assertEquals(Reason.PROVIDER_MISCONFIGURED, notYet.reason());
        assertShows(notYet.detail(), "'fields' is missing");
    }

    @Test
    void a_delete_is_sent_again_after_a_broken_connection() {
        broker.minted(order(TARGET));
        service.next(WebhookStandIn.dropping());

        assertEquals(new LeaseRevocation.Gone("HTTP 204"), end("{}"));
    }

    @Test
    void a_service_is_responsible_for_what_is_left_behind() throws Exception {
        assertEquals(List.of(), type().revoker().orElseThrow().leftBehind(place("{}")));
    }

    @Test
    void the_fields_are_the_default_outputs_each_by_its_own_name() {
        Orders order = order(TARGET);
        var outputs =
                new AccessProviders(List.of(type()), InstantSource.system())
                        .prepare(order.access(), order.keySettings())
                        .outputs(new Outputs(Map.of()));

        assertEquals(
                Map.of("APP_USER", "APP_USER", "APP_PASSWORD", "APP_PASSWORD"),
                outputs.fieldByMember());
    }

    @Test
    void without_keys_of_its_own_the_broker_proves_nothing() {
        MintResult result =
                order(TARGET)
                        .mint(
                                new AccessProviders(
                                        List.of(type(new NoSigningKeys())),
                                        InstantSource.system()));

        Failed failed = (Failed) result;
        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertShows(failed.detail(), "no signing keys");
        assertEquals(List.of(), service.calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {}                                            | {'target':'a'}                   | 'endpoint' is missing
                    {'endpoint':'%s'}                             | {'target':'a'}                   | 'fields' is missing
                    {'endpoint':'%s','fields':['a-b']}            | {'target':'a'}                   | 'fields' names 'a-b', which is not a valid field name
                    {'endpoint':'%s','fields':['Expiration']}     | {'target':'a'}                   | 'fields' names 'Expiration', which is not a valid field name
                    {'endpoint':'%s','fields':['a'],'x':1}        | {'target':'a'}                   | 'x' is not a setting of this type
                    {'endpoint':'http://10.0.0.1','fields':['a']} | {'target':'a'}                   | is plain http
                    {'endpoint':'https://sts.amazonaws.com.evil.example.amazonaws.com','fields':['a']} | {'target':'a'} | belongs to AWS
                    {'endpoint':'%s','fields':['a'],'client_certificate':'x'}         | {'target':'a'} | must be set together
                    {'endpoint':'%s','fields':['a'],'client_key':{'file':'x'}}        | {'target':'a'} | must be set together
                    {'endpoint':'%s','fields':['a'],'client_key':{'file':'x'},'client_certificate':'x'} | {'target':'a'} | 'client_key' refers to SECRETS_DIR/acme/x, which doesn't exist
                    {'endpoint':'%s','fields':['a']}              | {}                               | 'target' is missing
                    {'endpoint':'%s','fields':['a']}              | {'target':'a','parameters':{'a':1}}      | 'parameters' must be a non-empty string
                    {'endpoint':'%s','fields':['a']}              | {'target':'a','send_subject':'yes'}      | 'send_subject' must be true or false
                    """)
    void settings_that_cannot_work_are_reported_before_anything_is_sent(
            String provider, String key, String told) {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                told,
                Orders.of("webhook", provider.replace("%s", service.url()), key));
        assertEquals(List.of(), service.calls());
    }

    @Test
    void long_parameters_and_many_fields_are_reported() {
        assertShows(
                broker.failed(
                                order(
                                        TARGET
                                                + ",'parameters':{'a':'%s'}"
                                                        .formatted("x".repeat(4_100))))
                        .detail(),
                "'parameters' has more than 4096 bytes");
        String fields =
                String.join(
                        ",", IntStream.rangeClosed(1, 33).mapToObj("'F%d'"::formatted).toList());
        assertShows(
                broker.failed(
                                Orders.of(
                                        "webhook",
                                        "{'endpoint':'%s','fields':[%s]}"
                                                .formatted(service.url(), fields),
                                        "{'target':'a'}"))
                        .detail(),
                "'fields' names more than 32 fields, the maximum");
    }

    @Test
    void the_target_is_what_the_access_provider_limits() {
        broker.minted(order(TARGET).allowing("registry/*"));

        Failed failed = broker.failed(order(TARGET).allowing("other/*"));

        assertTrue(failed.detail().startsWith("the key's target is 'registry/push'"));
        assertEquals(1, service.calls().size());
    }

    @Test
    void an_address_in_a_private_network_is_not_connected_to() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                Orders.of(
                        "webhook",
                        "{'endpoint':'https://169.254.169.254/x','fields':['a']}",
                        "{'target':'a'}"));
    }

    @Test
    void fields_are_not_printed_with_their_values() {
        Minted minted = broker.minted(order(TARGET));

        assertLacks(minted.toString(), "pass word");
    }

    private void assertWithheld(Consumer<ObjectNode> change, String told) {
        service.next(service.changing(change));

        Withheld withheld = broker.withheld(order(TARGET));

        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertShows(withheld.detail(), told);
        assertEquals(Set.of(ID), service.live());
        assertTrue(end("{}") instanceof LeaseRevocation.Gone);
        assertEquals(Set.of(), service.live());
        service.forget();
    }

    private static ObjectNode values(ObjectNode answer) {
        return (ObjectNode) answer.get("values");
    }

    private static void fill(ObjectNode answer) {
        for (int i = 1; i <= 31; i++) {
            values(answer).put("V" + i, "x");
        }
    }

    private static Instant later() {
        return Instant.now().plusSeconds(10);
    }

    private LeaseRevocation end(String change) {
        return type().revoker()
                .orElseThrow()
                .revoke(new RevocationOrder(place(change), Orders.MINT_ID));
    }

    private Place place(String change) {
        ObjectNode settings = order(TARGET).access().settings().deepCopy();
        Orders.json(change).properties().forEach(e -> settings.set(e.getKey(), e.getValue()));
        return new Place(new TenantName("acme"), new ProviderName("apps"), settings, later());
    }

    private AccessProvider type() {
        return type(broker.identity());
    }

    private static AccessProvider type(BrokerIdentity identity) {
        var allowed = new Destinations(List.of("127.0.0.1"));
        return new Webhook(
                identity,
                new SettingSecrets(new SecretFiles(Optional.empty())),
                new TokenDestinations(allowed),
                new Calls(
                        new TenantHttpClients(allowed),
                        InstantSource.system(),
                        RandomGenerator.getDefault()));
    }

    private Orders order(String key) {
        return Orders.of(
                "webhook",
                "{'endpoint':'%s','fields':['APP_USER','APP_PASSWORD']}".formatted(service.url()),
                "{" + key + "}");
    }
}
