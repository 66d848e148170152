package io.mintmark.broker.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.NoTokenProvided;
import io.mintmark.base.verdict.TokenRefusal.OfActor;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.base.verdict.Verdict.Passed;
import io.mintmark.base.verdict.Verdict.Refused;
import io.mintmark.broker.wiring.SignaturesBy;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs every file of {@code vectors/tokens} against the verifier. */
final class TokenVectorsTest {
    private static final OwnIssuer BROKER = new OwnIssuer("https://broker.example");

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final VectorKeys KEYS = new VectorKeys();

    @TestFactory
    Stream<DynamicTest> each_token_gets_the_verdict_that_its_file_states() throws IOException {
        List<TokenVector> vectors = TokenVector.all().toList();
        return SignaturesBy.here()
                .flatMap(code -> vectors.stream().map(vector -> checked(vector, code)));
    }

    private static DynamicTest checked(TokenVector vector, SignaturesBy code) {
        return DynamicTest.dynamicTest(
                vector.name() + " by " + code, () -> code.during(() -> check(vector)));
    }

    @Test
    void every_reason_has_a_token_that_gets_it() throws IOException {
        Set<String> reasons =
                Stream.concat(
                                TokenVector.all()
                                        .map(vector -> vector.json().at("/verdict/refused")),
                                TokenVector.pairs().map(vector -> vector.json().path("refused")))
                        .map(word -> word.asText(""))
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> without =
                Stream.of(TokenRefusal.class.getPermittedSubclasses())
                        .filter(type -> type != NoTokenProvided.class && type != OfActor.class)
                        .map(TokenVectorsTest::word)
                        .filter(word -> !reasons.contains(word))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), without);
    }

    private static void check(TokenVector vector) {
        TokenVerifier verifier = verifier(vector);
        PresentedToken token = vector.token(KEYS);
        JsonNode expected = vector.json().path("verdict");
        if (expected.has("unavailable")) {
            Unavailable thrown =
                    assertThrows(Unavailable.class, () -> verifier.examine(token).verdict());
            assertEquals(expected.path("unavailable").textValue(), thrown.getMessage());
            return;
        }
        if (vector.json().path("presented_before").asBoolean(false)) {
            assertEquals(
                    "passed", reason(verifier.examine(token).verdict().then(verifier::redeem)));
        }
        Examination examination = verifier.examine(token);
        assertEquals(
                expected,
                told(examination, examination.verdict().then(verifier::redeem)),
                vector.name());
    }

    private static TokenVerifier verifier(TokenVector vector) {
        return new TokenVerifier(
                new FixedProviders(vector.providers(KEYS)),
                new IssuerKeys(new GuardedHttp(new Destinations(List.of())), vector::now),
                new RememberedTokens(),
                BROKER,
                Clocks.of(vector::now));
    }

    /** The verdict, in the form that the files have. */
    private static JsonNode told(Examination examination, Verdict<VerifiedToken> verdict) {
        ObjectNode told = MAPPER.createObjectNode();
        switch (verdict) {
            case Passed<VerifiedToken>(VerifiedToken token) -> told.put("passed", token.subject());
            case Refused<VerifiedToken>(Refusal refusal) -> {
                told.put("refused", ((TokenRefusal) refusal).word());
                ObjectNode fields = fields(refusal);
                if (!fields.isEmpty()) {
                    told.set("fields", fields);
                }
            }
        }
        examination.knownIssuer().ifPresent(issuer -> told.put("known_issuer", issuer));
        examination.provider().ifPresent(provider -> told.put("idp", provider.name().value()));
        return told;
    }

    private static ObjectNode fields(Refusal refusal) {
        ObjectNode fields = MAPPER.createObjectNode();
        for (RecordComponent component : refusal.getClass().getRecordComponents()) {
            Unchecked.run(() ->
                    fields.set(component.getName(), json(component.getAccessor().invoke(refusal))));
        }
        return fields;
    }

    private static JsonNode json(Object value) {
        if (value instanceof List<?> list) {
            ArrayNode array = MAPPER.createArrayNode();
            list.forEach(element -> array.add(element.toString()));
            return array;
        }
        return MAPPER.getNodeFactory().textNode(value.toString());
    }

    private static String reason(Verdict<VerifiedToken> verdict) {
        return switch (verdict) {
            case Passed<VerifiedToken> _ -> "passed";
            case Refused<VerifiedToken>(Refusal refusal) -> refusal.toString();
        };
    }

    /** {@code TokenTooOld} is {@code token_too_old}. */
    private static String word(Class<?> refusal) {
        return refusal.getSimpleName().replaceAll("(?<!^)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }
}
