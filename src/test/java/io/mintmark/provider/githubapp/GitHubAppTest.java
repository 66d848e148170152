package io.mintmark.provider.githubapp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.credential.CredentialType.LoggedMint;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class GitHubAppTest {
    private static final String SHOP = "'repositories':['shop'],'permissions':{'contents':'read'}";
    private static final KeyPair APP = RsaPairs.next(2048);

    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    @AutoClose private GitHubStandIn github = gitHub("");

    @BeforeEach
    void key() {
        broker.secret("app.pem", KeyDirectory.pkcs8(APP));
    }

    @Test
    void a_key_gets_a_token_for_its_repositories_and_permissions() {
        Minted minted = broker.minted(order(SHOP));

        Secret token = text(minted);
        assertEquals(Set.of(token.reveal()), github.live());
        assertTrue(token.length() > 500);
        assertEquals(
                Map.of(
                        "AccessToken", token,
                        "Expiration", new Secret(minted.expiresAt().toString()),
                        "InstallationId", new Secret(GitHubStandIn.INSTALLATION),
                        "ApiUrl", new Secret(github.url())),
                minted.fields());
        assertEquals(HexFormat.of().formatHex(token.hash()), minted.credentialId());
        assertEquals(
                "{\"repositories\":[\"shop\"],\"permissions\":{\"contents\":\"read\"}}",
                github.calls().getFirst().body());
        Duration life = Duration.between(Instant.now(), minted.expiresAt());
        assertTrue(Math.abs(life.toSeconds() - 3600) <= 20, life::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'repositories':['shop','docs'],'permissions':{'contents':'write','issues':'read'}",
                "'repositories':['SHOP'],'permissions':{'contents':'read'}",
                "'repository_ids':['7654321'],'permissions':{'metadata':'read'}",
                "'all_repositories':true,'permissions':{'contents':'read'}",
            })
    void repositories_are_named_by_name_or_id_or_are_all(String key) {
        if (key.contains("SHOP")) {
            github.next(
                    GitHubStandIn.saying(
                            201,
                            "{'token':'t','expires_at':'%s','permissions':{'contents':'read'},'repositories':[{'name':'shop'}]}"
                                    .formatted(Instant.now().plusSeconds(3600))));
        }
        broker.minted(order(key));
    }

    /** A token of a clock that is ahead was withheld, and the next was made at each retry. */
    @Test
    void a_clock_of_githubs_that_is_ahead_is_named_and_costs_no_token() {
        github.next(token(3600 + 90));
        Minted ahead = broker.minted(order(SHOP));
        assertTrue(ahead.note().orElse("").contains("clock is "), ahead.note()::toString);
        assertTrue(ahead.note().orElse("").contains("compare both clocks"));
        Duration life = Duration.between(Instant.now(), ahead.expiresAt());
        assertTrue(life.toSeconds() <= 3600, life::toString);
        github.next(token(3600 + 20));
        assertEquals(Optional.empty(), broker.minted(order(SHOP)).note());
    }

    private static GitHubStandIn.Order token(int seconds) {
        return GitHubStandIn.saying(
                201,
                "{'token':'t','expires_at':'%s','permissions':{'contents':'read'},'repositories':[{'name':'shop'}]}"
                        .formatted(Instant.now().plusSeconds(seconds)));
    }

    @Test
    void the_apps_proof_names_the_mint_and_allows_for_a_minute_of_skew() throws ParseException {
        broker.minted(order(SHOP));

        String bearer = github.calls().getFirst().authorization();
        JWTClaimsSet claims =
                SignedJWT.parse(bearer.substring("Bearer ".length())).getJWTClaimsSet();
        assertEquals(GitHubStandIn.CLIENT_ID, claims.getIssuer());
        assertEquals(Orders.MINT_ID.toString(), claims.getJWTID());
        Duration valid =
                Duration.between(
                        claims.getIssueTime().toInstant(), claims.getExpirationTime().toInstant());
        assertEquals(Duration.ofMinutes(6), valid);
    }

    @ParameterizedTest
    @ValueSource(ints = {-50, 50})
    void clocks_that_differ_by_less_than_a_minute_do_no_harm(int seconds) {
        github.ahead(Duration.ofSeconds(seconds));

        broker.minted(order(SHOP));
    }

    @ParameterizedTest
    @CsvSource({"-120, 'iat'", "600, 'exp'"})
    void clocks_that_differ_more_are_the_reason(int seconds, String claim) {
        github.ahead(Duration.ofSeconds(seconds));

        broker.assertFailed(Reason.BROKER_IDENTITY_REJECTED, claim, order(SHOP));
    }

    @Test
    void github_enterprise_server_has_a_path_before_it() {
        github.close();
        github = gitHub("/api/v3");

        assertEquals(new Secret(github.url()), broker.minted(order(SHOP)).fields().get("ApiUrl"));
    }

    @Test
    void keys_of_both_forms_work_and_a_changed_one_works_at_once() throws IOException {
        broker.secret("app.pem", KeyDirectory.pkcs8(RsaPairs.otherThan(APP)));
        assertEquals(Reason.BROKER_IDENTITY_REJECTED, broker.failed(order(SHOP)).reason());
        byte[] pkcs1 =
                PrivateKeyInfo.getInstance(APP.getPrivate().getEncoded())
                        .parsePrivateKey()
                        .toASN1Primitive()
                        .getEncoded();

        broker.secret(
                "app.pem",
                "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n"
                        .formatted(Base64.getMimeEncoder().encodeToString(pkcs1)));

        broker.minted(order(SHOP));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    hello                     | which contains no private key in PEM format
                    -----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY----- | which is not a private key in PEM format
                    EC                        | which isn't an RSA key
                    SHORT                     | which is an RSA key of 1024 bits; the minimum is 2048
                    """)
    void a_private_key_that_is_none_is_reported_and_not_quoted(String content, String told) {
        String pem =
                switch (content) {
                    case "EC" -> KeyDirectory.pkcs8(KeyDirectory.ec("secp256r1"));
                    case "SHORT" -> KeyDirectory.pkcs8(RsaPairs.next(1024));
                    default -> content.replace("\\n", "\n");
                };
        broker.secret("app.pem", pem);

        Failed failed = broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, order(SHOP));
        assertTrue(
                failed.detail().startsWith("access provider setting 'private_key' refers to"),
                failed.detail());
        assertTrue(failed.detail().endsWith(told), failed.detail());
        assertEquals(List.of(), github.calls());
    }

    @Test
    void a_missing_private_key_is_reported() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "other.pem, which doesn't exist",
                order(SHOP, ",'private_key':{'file':'other.pem'}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'repositories':['shop'],'permissions':{'administration':'write'} | PROVIDER_REJECTED      | not granted to this installation. (HTTP 422)
                    'repositories':['shop'],'permissions':{'issues':'write'}         | PROVIDER_REJECTED      | not granted to this installation. (HTTP 422)
                    'repositories':['unknown'],'permissions':{'contents':'read'}     | PROVIDER_MISCONFIGURED | does not exist or is not accessible
                    'repository_ids':['1'],'permissions':{'contents':'read'}         | PROVIDER_MISCONFIGURED | does not exist or is not accessible
                    """)
    void access_that_the_installation_does_not_have_is_refused(
            String key, Reason reason, String told) {
        broker.assertFailed(reason, told, order(key));
        assertEquals(Set.of(), github.live());
    }

    @Test
    void a_suspended_installation_is_rejected() {
        github.suspend(true);

        broker.assertFailed(Reason.PROVIDER_REJECTED, "suspended", order(SHOP));
    }

    @Test
    void an_installation_of_another_app_is_misconfigured() {
        broker.assertFailed(
                Reason.PROVIDER_MISCONFIGURED,
                "Not Found (HTTP 404)",
                order(SHOP, ",'installation_id':'1'"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    401 | Bad credentials                                   |                       |   | BROKER_IDENTITY_REJECTED
                    403 | Resource not accessible by integration            |                       |   | PROVIDER_REJECTED
                    403 | You have exceeded a secondary rate limit.         |                       |   | PROVIDER_THROTTLED
                    403 | API rate limit exceeded for installation.         | X-RateLimit-Remaining | 0 | PROVIDER_THROTTLED
                    403 | slow down                                         | X-RateLimit-Remaining | 0 | PROVIDER_THROTTLED
                    403 | Forbidden by the IP allow list                    | X-RateLimit-Remaining | 7 | PROVIDER_REJECTED
                    403 | wait                                              | Retry-After           | 600 | PROVIDER_THROTTLED
                    429 | too many                                          | Retry-After           | 600 | PROVIDER_THROTTLED
                    400 | Problems parsing JSON                             |                       |   | PROVIDER_MISCONFIGURED
                    422 | Validation Failed                                 |                       |   | PROVIDER_MISCONFIGURED
                    500 | Server Error                                      |                       |   | PROVIDER_ERROR
                    200 | no token                                          |                       |   | PROVIDER_ERROR
                    """)
    void every_error_has_its_reason(
            int status, String message, String header, String value, Reason reason) {
        String body = "{'message':'%s'}".formatted(message);
        github.next(
                header == null
                        ? GitHubStandIn.saying(status, body)
                        : GitHubStandIn.saying(status, body, header, value));

        broker.assertFailed(reason, order(SHOP));
        assertEquals(1, github.calls().size());
    }

    @ParameterizedTest
    @CsvSource({"403, 1", "429, 1", "503, 0"})
    void what_passes_soon_is_tried_again(int status, String seconds) {
        github.next(GitHubStandIn.saying(status, "{}", "Retry-After", seconds));

        broker.minted(order(SHOP));

        assertEquals(2, github.calls().size());
    }

    @Test
    void a_server_that_hangs_is_waited_for_until_the_deadline_and_asked_once() {
        github.next(GitHubStandIn.hanging());

        broker.assertFailed(Reason.PROVIDER_TIMEOUT, order(SHOP).within(Duration.ofMillis(300)));
        assertEquals(1, github.calls().size());
    }

    @Test
    void a_token_with_more_permissions_is_withheld_and_can_be_ended() {
        assertWithheld(
                answer -> ((ObjectNode) answer.get("permissions")).put("administration", "write"),
                "the token's permissions are not the requested ones:"
                        + " {\"contents\":\"read\",\"metadata\":\"read\",\"administration\":\"write\"}");
        assertWithheld(
                answer -> ((ObjectNode) answer.get("permissions")).put("contents", "write"),
                "the token's permissions are not the requested ones");
    }

    @Test
    void a_token_with_fewer_permissions_is_withheld() {
        assertWithheld(
                answer -> ((ObjectNode) answer.get("permissions")).remove("contents"),
                "the token's permissions are not the requested ones");
        assertWithheld(
                answer -> answer.remove("permissions"),
                "the token's permissions are not the requested ones");
    }

    @Test
    void a_token_for_other_repositories_is_withheld() {
        String told = "the token isn't limited to the requested repositories";
        assertWithheld(
                answer -> answer.withArray("repositories").addObject().put("name", "docs"), told);
        assertWithheld(answer -> answer.remove("repositories"), told);
        assertWithheld(answer -> answer.putArray("repositories"), told);
        assertWithheld(answer -> answer.put("repositories", "shop"), told);
    }

    @Test
    void a_renamed_repository_is_a_wrong_setting_with_both_names() {
        github.next(
                GitHubStandIn.changing(answer ->
                        answer.putArray("repositories").addObject().put("name", "store")));

        Withheld withheld = broker.withheld(order(SHOP));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, withheld.reason());
        assertTrue(withheld.detail().contains("'shop' to 'store'"), withheld::detail);
        assertTrue(withheld.undo().isPresent());
    }

    @Test
    void a_token_that_is_not_what_it_should_be_is_withheld() {
        assertWithheld(answer -> answer.remove("expires_at"), "no valid expires_at");
        assertWithheld(answer -> answer.put("expires_at", "soon"), "no valid expires_at");
        assertWithheld(answer -> answer.put("error", "x"), "both a token and an error");
    }

    private void assertWithheld(Consumer<ObjectNode> change, String told) {
        github.next(GitHubStandIn.changing(change));

        Withheld withheld = broker.withheld(order(SHOP));

        assertEquals(Reason.PROVIDER_ERROR, withheld.reason());
        assertTrue(withheld.detail().startsWith(told) || withheld.detail().contains(told));
        String token = github.live().iterator().next();
        assertEquals(HexFormat.of().formatHex(new Secret(token).hash()), withheld.credentialId());
        Instant soon = Instant.now().plusSeconds(10);
        assertEquals(Optional.empty(), withheld.undo().orElseThrow().undo(soon));
        assertEquals(Set.of(), github.live());
    }

    @Test
    void a_token_that_is_dropped_is_revoked_with_itself() {
        Minted minted = broker.minted(order(SHOP));
        var undo = minted.undo().orElseThrow();

        assertEquals(Optional.empty(), undo.undo(Instant.now().plusSeconds(10)));

        assertEquals(Set.of(), github.live());
        assertEquals("DELETE", github.calls().getLast().method());
        // a second time GitHub doesn't know the token, which has ended
        assertEquals(Optional.empty(), undo.undo(Instant.now().plusSeconds(10)));
    }

    @Test
    void a_token_that_cannot_be_revoked_is_reported_without_quoting_it() {
        Minted minted = broker.minted(order(SHOP));
        github.next(
                GitHubStandIn.saying(
                        500, "{'message':'I saw %s'}".formatted(text(minted).reveal())));

        String why = minted.undo().orElseThrow().undo(Instant.now().plusSeconds(10)).orElseThrow();

        assertTrue(why.startsWith("I saw [secret] (HTTP 500)"), why);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    'permissions':{'contents':'read'}                                          | 'repositories' or 'repository_ids' or 'all_repositories' must be set, but only one of them
                    'repositories':['shop'],'all_repositories':true,'permissions':{'contents':'read'} | must be set, but only one of them
                    'repositories':['shop'],'repository_ids':['1'],'permissions':{'contents':'read'}  | must be set, but only one of them
                    'repositories':['shop']                                                    | 'permissions' is missing
                    'repositories':['shop'],'permissions':{}                                   | 'permissions' is missing
                    'repositories':['shop'],'permissions':{'contents':'all'}                   | 'permissions' has the level 'all' for 'contents'
                    'repositories':['shop'],'permissions':{'Contents':'read'}                  | 'permissions' has the level 'read' for 'Contents'
                    'repositories':['acme/shop'],'permissions':{'contents':'read'}             | 'repositories' has 'acme/shop', which is not a repository name
                    'repository_ids':['shop'],'permissions':{'contents':'read'}                | 'repository_ids' has 'shop', which is not a repository id
                    'repositories':['shop'],'permissions':{'contents':'read'},'owner':'acme'   | 'owner' is not a setting
                    """)
    void key_settings_that_cannot_work_are_reported_before_anything_is_sent(
            String key, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(key));
        assertEquals(List.of(), github.calls());
    }

    @Test
    void a_key_names_fifty_repositories_at_most() {
        String names =
                IntStream.rangeClosed(1, 51)
                        .mapToObj("'r%d'"::formatted)
                        .collect(Collectors.joining(","));

        Failed failed =
                broker.failed(
                        order("'repositories':[" + names + "],'permissions':{'contents':'read'}"));

        assertTrue(failed.detail().contains("has 51 elements; the maximum is 50"), failed.detail());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    ,'installation_id':'../1'        | 'installation_id' must be 1 to 20 digits
                    ,'api_url':'http://10.0.0.1'     | 'api_url' 'http://10.0.0.1' is plain http
                    ,'private_key':'-----BEGIN'      | 'private_key' must be an object
                    ,'org':'acme'                    | 'org' is not a setting
                    """)
    void provider_settings_that_cannot_work_are_reported(String more, String told) {
        broker.assertFailed(Reason.PROVIDER_MISCONFIGURED, told, order(SHOP, more));
    }

    @Test
    void repositories_and_permissions_are_what_the_provider_limits() {
        Orders order = order(SHOP);

        broker.minted(order.allowing("repository:shop", "permission:contents:*"));
        for (String allowed : List.of("repository:shop", "permission:contents:read")) {
            Failed failed = broker.failed(order.allowing(allowed));
            assertTrue(failed.detail().startsWith("the key's target is '"), failed.detail());
        }
        assertFalse(
                broker.failed(
                                order("'all_repositories':true,'permissions':{'contents':'read'}")
                                        .allowing("repository:*", "permission:**"))
                        .detail()
                        .isEmpty());
    }

    @Test
    void the_command_for_githubs_log_has_the_hash_in_its_form() {
        Minted minted = broker.minted(order(SHOP));

        var log =
                new GitHubAppType()
                        .log(
                                new LoggedMint(
                                        "acme",
                                        "deploy",
                                        Optional.of(minted.credentialId()),
                                        Instant.now(),
                                        Optional.empty()));

        String hash = Base64.getEncoder().encodeToString(text(minted).hash());
        assertTrue(
                log.command().orElseThrow().endsWith("phrase='hashed_token:\"" + hash + "\"'"),
                log::toString);
    }

    private static Secret text(Minted minted) {
        return Objects.requireNonNull(minted.fields().get("AccessToken"));
    }

    private static GitHubStandIn gitHub(String base) {
        return new GitHubStandIn((RSAPublicKey) APP.getPublic(), base);
    }

    private Orders order(String key) {
        return order(key, "");
    }

    /** The settings of the stand-in; those in {@code more} replace them. */
    private Orders order(String key, String more) {
        ObjectNode provider =
                (ObjectNode)
                        Orders.json(
                                "{'client_id':'%s','private_key':{'file':'app.pem'},'installation_id':'%s','api_url':'%s'}"
                                        .formatted(
                                                GitHubStandIn.CLIENT_ID,
                                                GitHubStandIn.INSTALLATION,
                                                github.url()));
        provider.setAll((ObjectNode) Orders.json("{'x':0%s}".formatted(more)));
        provider.remove("x");
        return Orders.of("github-app", provider.toString(), "{" + key + "}");
    }
}
