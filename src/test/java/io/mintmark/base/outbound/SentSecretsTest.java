package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import static java.util.stream.Collectors.joining;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class SentSecretsTest {
    private static final String ALPHABET =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/&<>\"'\\%=";

    /** What servers make of what they quote. */
    private static final Map<String, UnaryOperator<String>> FORMS =
            Map.ofEntries(
                    Map.entry("as it is", text -> text),
                    Map.entry("in capitals", String::toUpperCase),
                    Map.entry("URL-encoded", SentSecretsTest::url),
                    Map.entry("URL-encoded twice", text -> url(url(text))),
                    Map.entry("every byte URL-encoded", SentSecretsTest::percents),
                    Map.entry("base64", text -> base64(text)),
                    Map.entry("base64 within other text", text -> base64("a:" + text + "&b")),
                    Map.entry("base64 behind one character", text -> base64("a" + text + "=1")),
                    Map.entry(
                            "base64url",
                            text ->
                                    Base64.getUrlEncoder()
                                            .withoutPadding()
                                            .encodeToString(bytes(text))),
                    Map.entry("base64, URL-encoded", text -> url(base64(text))),
                    Map.entry("hexadecimal", text -> HexFormat.of().formatHex(bytes(text))),
                    Map.entry(
                            "hexadecimal in capitals",
                            text -> HexFormat.of().withUpperCase().formatHex(bytes(text))),
                    Map.entry("JSON-escaped", SentSecretsTest::json),
                    Map.entry("HTML-escaped", SentSecretsTest::html),
                    Map.entry("every character HTML-escaped", SentSecretsTest::entities),
                    Map.entry("spaced out", text -> String.join(" ", text.split(""))),
                    Map.entry("wrapped", text -> text.replaceAll("(.{20})", "$1\r\n")),
                    Map.entry("without its end", text -> text.substring(0, text.length() * 2 / 3)),
                    Map.entry("without its beginning", text -> text.substring(text.length() / 3)),
                    Map.entry("its middle", text -> text.substring(20, 40)));

    @TestFactory
    Stream<DynamicTest> a_secret_is_hidden_in_every_form() {
        return FORMS.entrySet().stream()
                .map(form ->
                        dynamicTest(
                                form.getKey(),
                                () -> {
                                    for (int seed = 0; seed < 50; seed++) {
                                        hides(secret(seed), form.getValue());
                                    }
                                }));
    }

    @ParameterizedTest
    @CsvSource({
        "invalid_client: secret SUPER hunter+1., invalid_client: secret [secret].",
        "got SUPER+hunter%2B1 from mm, got [secret] from mm",
        "got Basic bW06U1VQRVIraHVudGVyJTJCMQ==, got Basic [secret]",
        "nothing of it, nothing of it"
    })
    void what_stands_around_it_stays(String said, String shown) {
        var client = new ClientSecret("mm", new Secret("SUPER hunter+1"));
        OutboundRequest post = new FormBody().to("https://far.example").authorized(client);

        assertEquals(shown, new SentSecrets(post.secrets()).hiddenIn(said));
    }

    @Test
    void a_secret_too_short_to_be_told_apart_hides_all_words() {
        var sent = new SentSecrets(List.of(new Secret("a+b")));

        assertEquals("[secret]", sent.hiddenIn("a and b are bad"));
    }

    @Test
    void other_words_are_left_alone() {
        String said =
                "AADSTS700213: No matching federated identity record found for presented"
                        + " assertion subject 'tenant:acme:key:deploy'. Trace ID:"
                        + " 0000aaaa-11bb-cccc-dd22-eeeeee333333 100% &amp; sure\\u0021";
        for (int seed = 0; seed < 50; seed++) {
            assertEquals(said, new SentSecrets(List.of(new Secret(secret(seed)))).hiddenIn(said));
            assertFalse(new SentSecrets(List.of(new Secret(secret(seed)))).arePartlyIn(said));
        }
    }

    @Test
    void a_name_with_twelve_characters_of_a_secret_is_none_and_one_with_eleven_may_be() {
        String secret = secret(3).replaceAll("[^A-Za-z0-9]", "");
        var sent = new SentSecrets(List.of(new Secret(secret)));

        assertTrue(sent.arePartlyIn("ASIA" + secret.substring(20, 32) + "_"));
        assertFalse(sent.arePartlyIn("____" + secret.substring(20, 31) + "_"));
        assertTrue(new SentSecrets(List.of(new Secret("a+b"))).arePartlyIn("anything"));
    }

    /** Those of digits alone are found most easily, in the hexadecimal form of what was sent. */
    @Test
    void no_name_is_refused_because_it_happens_to_look_like_what_was_sent() {
        var sent = new SentSecrets(List.of(new Secret(secret(5))));
        Random random = new Random(11);
        for (int i = 0; i < 100_000; i++) {
            String name =
                    "ASIA"
                            + random.ints(16, '2', '8')
                                    .mapToObj(Character::toString)
                                    .collect(joining());

            assertFalse(sent.arePartlyIn(name), name);
        }
    }

    @Test
    void a_credential_that_holds_what_was_sent_is_known() {
        String secret = secret(1);
        var sent = new SentSecrets(List.of(new Secret(secret)));

        assertTrue(sent.areIn(new Secret(secret)));
        assertTrue(sent.areIn(new Secret("x" + base64("{" + secret + "}") + "y")));
        assertTrue(sent.areIn(new Secret(HexFormat.of().formatHex(bytes(secret)))));
        assertFalse(sent.areIn(new Secret(secret.substring(0, 50) + secret(2))));
    }

    private static void hides(String secret, UnaryOperator<String> form) {
        String quoted = form.apply(secret);
        assertTrue(new SentSecrets(List.of(new Secret(secret))).arePartlyIn(quoted), quoted);
        String shown =
                new SentSecrets(List.of(new Secret(secret)))
                        .hiddenIn("it sent " + quoted + " to me");

        assertTrue(shown.startsWith("it "), shown);
        assertTrue(shown.contains("[secret]"), () -> quoted + " became " + shown);
        String left = shown.replace("[secret]", "").replaceFirst("it sent ", "");
        assertTrue(left.length() < 24 + quoted.length() / 10, () -> quoted + " became " + shown);
    }

    private static String secret(int seed) {
        return new Random(seed)
                .ints(120, 0, ALPHABET.length())
                .mapToObj(i -> ALPHABET.substring(i, i + 1))
                .collect(Collectors.joining());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String url(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String percents(String text) {
        return "%" + HexFormat.ofDelimiter("%").formatHex(bytes(text));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(bytes(text));
    }

    private static String json(String text) {
        return text.chars()
                .mapToObj(c -> c > 'm' ? "\\u%04x".formatted(c) : Character.toString(c))
                .collect(Collectors.joining());
    }

    private static String html(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    private static String entities(String text) {
        return text.chars()
                .mapToObj(c -> (c % 2 == 0 ? "&#%d;" : "&#x%x;").formatted(c))
                .collect(Collectors.joining());
    }
}
