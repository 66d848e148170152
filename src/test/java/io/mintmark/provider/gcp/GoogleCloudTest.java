package io.mintmark.provider.gcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
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
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class GoogleCloudTest {
    private static final String SUBJECT = "tenant:acme:key:deploy";
    private static final String HOP = "hop@acme-prod.iam.gserviceaccount.com";
    private static final String RULES =
            "{'accessBoundaryRules':[{'availableResource':'//storage.googleapis.com/projects/_/buckets/b','availablePermissions':['inRole:roles/storage.objectViewer']}]}";

    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final GoogleStandIn google = broker.google().binding(SUBJECT, GoogleStandIn.ACCOUNT);

    @Test
    void a_service_accounts_token_lives_as_long_as_asked() {
        Minted minted = broker.minted(order(GoogleOrders.DEPLOY).lasting(Duration.ofMinutes(20)));

        assertEquals(Optional.of(GoogleStandIn.ACCOUNT), google.holder(token(minted)));
        assertEquals(google.expiry(token(minted)), minted.expiresAt());
        assertEquals("1200s", google.calls().getLast().text("lifetime"));
    }

    @Test
    void its_fields_are_the_token_its_expiry_and_the_project() {
        Minted minted = broker.minted(order(GoogleOrders.DEPLOY));

        Secret token = new Secret(token(minted));
        assertEquals(
                Map.of(
                        "AccessToken", token,
                        "Expiration", new Secret(google.expiry(token.reveal()).toString()),
                        "ProjectId", new Secret("acme-prod"),
                        "Scope", new Secret("https://www.googleapis.com/auth/cloud-platform")),
                minted.fields());
        assertEquals(HexFormat.of().formatHex(token.hash()), minted.credentialId());
    }

    @Test
    void the_brokers_token_names_provider_key_and_mint() throws ParseException {
        broker.minted(order(GoogleOrders.DEPLOY));

        JWTClaimsSet claims = shown();
        assertEquals(List.of(GoogleStandIn.PROVIDER), claims.getAudience());
        assertEquals(SUBJECT, claims.getSubject());
        assertEquals(Orders.MINT_ID.toString(), claims.getJWTID());
    }

    @Test
    void every_call_carries_the_mint_id_for_googles_audit_log() {
        broker.minted(order(GoogleOrders.DEPLOY + ",'access_boundary':" + RULES));

        assertEquals(
                List.of("/v1/token", generate(GoogleStandIn.ACCOUNT), "/v1/token"),
                google.calls().stream().map(GoogleCall::path).toList());
        google.calls()
                .forEach(call ->
                        assertEquals(Optional.of(Orders.MINT_ID.toString()), call.reason()));
    }

    @Test
    void the_keys_scopes_are_the_credentials_and_asking_for_it_takes_one_of_its_own() {
        broker.minted(order(GoogleOrders.DEPLOY + ",'scopes':['https://a','https://b']"));

        assertEquals(GoogleStandIn.CLOUD_PLATFORM, google.calls().getFirst().text("scope"));
        assertEquals(
                Orders.json("['https://a','https://b']"),
                google.calls().getLast().body().path("scope"));
    }

    @Test
    void delegates_lead_to_the_account() {
        String last = "last@acme-prod.iam.gserviceaccount.com";
        google.binding(SUBJECT, HOP).binding(HOP, last);

        Minted minted =
                broker.minted(
                        order("'service_account':'%s','delegates':['%s']".formatted(last, HOP)));

        assertEquals(Optional.of(last), google.holder(token(minted)));
    }

    @ParameterizedTest
    @ValueSource(strings = {RULES, "{'accessBoundary':" + RULES + "}"})
    void a_boundary_is_put_on_the_token_whose_life_it_shares(String boundary) {
        Minted minted =
                broker.minted(
                        order(GoogleOrders.DEPLOY + ",'access_boundary':" + boundary)
                                .lasting(Duration.ofMinutes(10)));

        assertTrue(google.isBounded(token(minted)));
        assertEquals(Optional.of(GoogleStandIn.ACCOUNT), google.holder(token(minted)));
        assertTrue(
                minted.expiresAt().isBefore(Orders.now().plus(Duration.ofSeconds(601))),
                minted::toString);
    }

    @Test
    void a_bounded_token_of_unsaid_life_has_its_sources() {
        google.next(
                new GoogleAnswer.AsAsked(),
                new GoogleAnswer.Saying(
                        200, "{\"accessToken\":\"a\",\"expireTime\":\"2031-02-03T04:05:06.7Z\"}"),
                new GoogleAnswer.Saying(200, "{\"access_token\":\"b\",\"token_type\":\"Bearer\"}"));

        Minted minted = broker.minted(order(GoogleOrders.DEPLOY + ",'access_boundary':" + RULES));

        assertEquals(Instant.parse("2031-02-03T04:05:06Z"), minted.expiresAt());
        assertEquals(new Secret("2031-02-03T04:05:06Z"), minted.fields().get("Expiration"));
    }

    @Test
    void without_an_account_the_federated_token_is_given_for_as_long_as_google_lets_it_live()
            throws ParseException {
        Minted minted = broker.minted(order("'scopes':['https://a','https://b']"));

        assertEquals(Optional.of(SUBJECT), google.holder(token(minted)));
        assertEquals("https://a https://b", google.calls().getFirst().text("scope"));
        assertEquals(1, google.calls().size());
        assertEquals(Duration.ofMinutes(5), lifetime(shown()));
        assertTrue(
                minted.expiresAt().isBefore(Orders.now().plus(Duration.ofSeconds(301))),
                minted::toString);
    }

    @Test
    void a_federated_token_never_outlives_what_is_asked() throws ParseException {
        Minted minted = broker.minted(order("").lasting(Duration.ofSeconds(60)));

        assertEquals(Duration.ofSeconds(60), lifetime(shown()));
        assertTrue(
                minted.expiresAt().isBefore(Orders.now().plus(Duration.ofSeconds(61))),
                minted::toString);
    }

    @Test
    void a_federated_token_can_be_bounded_too() {
        Minted minted = broker.minted(order("'access_boundary':" + RULES));

        assertTrue(google.isBounded(token(minted)));
        assertEquals(Optional.of(SUBJECT), google.holder(token(minted)));
    }

    @Test
    void twelve_hours_are_given_where_the_organisation_allows_them() {
        google.allowingTwelveHours(GoogleStandIn.ACCOUNT);

        Minted minted = broker.minted(order(GoogleOrders.DEPLOY).lasting(Duration.ofHours(12)));

        assertTrue(minted.expiresAt().isAfter(Orders.now().plus(11, ChronoUnit.HOURS)));
    }

    @Test
    void endpoints_are_bases_with_or_without_a_final_slash() {
        broker.minted(
                GoogleOrders.at(
                        google.endpoint() + "/", google.endpoint() + "/", GoogleOrders.DEPLOY));

        assertEquals("/v1/token", google.calls().getFirst().path());
    }

    @ParameterizedTest
    @CsvSource({"59", "43201"})
    void durations_that_google_knows_not_are_refused_before_anything_is_sent(int seconds) {
        Failed failed =
                broker.failed(order(GoogleOrders.DEPLOY).lasting(Duration.ofSeconds(seconds)));

        assertEquals(
                new Failed(
                        Reason.PROVIDER_MISCONFIGURED,
                        "a duration of %d s is out of range; it must be from 60 to 43200 s"
                                .formatted(seconds)),
                failed);
        assertEquals(List.of(), google.calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    'service_account':'x/../y@z'                | 'service_account' 'x/../y@z' isn't the address
                    'service_account':'deploy'                  | 'service_account' 'deploy' isn't the address
                    'service_account':''                        | 'service_account' must be a non-empty string
                    'service_account':7                         | 'service_account' must be a non-empty string
                    'scopes':[]                                 | 'scopes' must have at least one element
                    'scopes':'https://a'                        | 'scopes' must be a list
                    'scopes':['a b']                            | 'scopes' 'a b' isn't a Google scope
                    'delegates':['a@b']                         | 'delegates' requires a service_account
                    'service_account':'a@b','delegates':['c']   | 'delegates' 'c' isn't the address
                    'access_boundary':{}                        | 'access_boundary' must have 1 to 10
                    'access_boundary':[]                        | 'access_boundary' must be an object
                    'access_boundary':{'accessBoundary':{}}     | 'access_boundary' must have 1 to 10
                    'access_boundary':{'accessBoundary':7}      | 'access_boundary' must have 1 to 10
                    'access_boundary':{'accessBoundaryRules':[]}  | 'access_boundary' must have 1 to 10
                    'access_boundary':{'accessBoundaryRules':[7]} | 'access_boundary' must have objects
                    'access_boundary':{'rules':[{}]}            | 'access_boundary': setting 'rules' is not a setting
                    'acccess_boundary':{}                       | 'acccess_boundary' is not a setting
                    """)
    void settings_of_a_key_that_cannot_work_are_told(String settings, String why) {
        Failed failed = broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, order(settings));
        assertTrue(failed.detail().startsWith("key setting " + why), failed.detail());
        assertEquals(List.of(), google.calls());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    {'workload_identity_provider':'//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x'} | 'project_id' is missing
                    {'project_id':'p'}                                  | 'workload_identity_provider' is missing
                    {'project_id':'p','workload_identity_provider':'x'} | 'workload_identity_provider' 'x' isn't the full name
                    {'project_id':'p','workload_identity_provider':'//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x','sts_endpoint':'sts'} | 'sts_endpoint' 'sts' must begin with https
                    {'project_id':'p','workload_identity_provider':'//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x','endpoint':'x'} | 'endpoint' is not a setting
                    """)
    void settings_of_a_provider_that_cannot_work_are_told(String settings, String why) {
        Failed failed =
                broker.assertFailed(
                        Reason.PROVIDER_MISCONFIGURED, Orders.of("gcp", settings, "{}"));
        assertTrue(failed.detail().startsWith("access provider setting " + why), failed.detail());
    }

    @Test
    void a_key_aims_at_its_account() {
        assertTrue(
                broker.failed(order(GoogleOrders.DEPLOY).allowing("other@*"))
                        .detail()
                        .startsWith("the key's target is '" + GoogleStandIn.ACCOUNT));
        assertTrue(
                broker.failed(order("").allowing("deploy@*"))
                        .detail()
                        .startsWith("the key names no target"));
        assertEquals(List.of(), google.calls());
    }

    @Test
    void a_credential_prints_without_its_token() {
        Minted minted = broker.minted(order(GoogleOrders.DEPLOY));

        assertFalse(minted.toString().contains("ya29."), minted::toString);
    }

    private Orders order(String keySettings) {
        return GoogleOrders.at(google.endpoint(), keySettings);
    }

    private static String token(Minted minted) {
        return MintingBroker.field(minted, "AccessToken");
    }

    private JWTClaimsSet shown() throws ParseException {
        return SignedJWT.parse(google.calls().getFirst().text("subjectToken")).getJWTClaimsSet();
    }

    private static Duration lifetime(JWTClaimsSet claims) {
        return Duration.between(
                claims.getIssueTime().toInstant(), claims.getExpirationTime().toInstant());
    }

    private static String generate(String account) {
        return "/v1/projects/-/serviceAccounts/" + account + ":generateAccessToken";
    }
}
