package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;

import io.mintmark.Unchecked;
import io.mintmark.base.key.SigningKey;
import io.mintmark.broker.token.RsaPairs;

import org.junit.jupiter.api.Test;

import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

class SigningKeysTest {
    private static final LocalDate YESTERDAY = LocalDate.parse("2026-07-28");
    private static final LocalDate TODAY = LocalDate.parse("2026-07-29");
    private static final LocalDate TOMORROW = LocalDate.parse("2026-07-30");

    private final SigningKey first = p256();
    private final SigningKey second = p256();
    private final SigningKey rsa = rsa();

    @Test
    void a_key_signs_from_its_day_on() {
        SigningKeys keys = keys(Map.of(YESTERDAY, first, TODAY, second));

        assertEquals(first, keys.signer(YESTERDAY));
        assertEquals(second, keys.signer(TODAY));
        assertEquals(second, keys.signer(TOMORROW));
    }

    @Test
    void a_sole_key_signs_at_once() {
        assertEquals(first, keys(Map.of(TOMORROW, first)).signer(TODAY));
    }

    @Test
    void of_several_keys_of_days_to_come_the_first_signs() {
        SigningKeys keys = keys(Map.of(TODAY, first, TOMORROW, second));

        assertEquals(first, keys.signer(YESTERDAY));
    }

    @Test
    void a_key_signs_before_its_day_only_if_no_other_has_begun() {
        assertEquals(rsa, keys(Map.of(YESTERDAY, rsa, TOMORROW, first)).signer(TODAY));
    }

    @Test
    void p256_goes_before_rsa() {
        SigningKeys keys = keys(Map.of(YESTERDAY, first, TODAY, rsa));

        assertEquals(first, keys.signer(TODAY));
        assertEquals(Optional.of(rsa), keys.signer(TODAY, JWSAlgorithm.RS256));
    }

    @Test
    void an_rsa_key_of_days_to_come_signs_where_nothing_else_can() {
        SigningKeys keys = keys(Map.of(YESTERDAY, first, TOMORROW, rsa));

        assertEquals(Optional.of(rsa), keys.signer(TODAY, JWSAlgorithm.RS256));
    }

    @Test
    void without_an_rsa_key_nothing_signs_rs256() {
        assertEquals(
                Optional.empty(), keys(Map.of(YESTERDAY, first)).signer(TODAY, JWSAlgorithm.RS256));
    }

    @Test
    void keys_are_published_before_they_sign() {
        SigningKeys keys = keys(Map.of(YESTERDAY, first, TOMORROW, second));

        assertEquals(List.of(first.published(), second.published()), keys.published().getKeys());
    }

    private static SigningKeys keys(Map<LocalDate, SigningKey> byDay) {
        return new SigningKeys(new TreeMap<>(byDay));
    }

    private static SigningKey p256() {
        return Unchecked.call(() -> SigningKey.of(new ECKeyGenerator(Curve.P_256).generate()));
    }

    private static SigningKey rsa() {
        KeyPair pair = RsaPairs.next(2048);
        return SigningKey.of(
                new RSAKey.Builder((RSAPublicKey) pair.getPublic())
                        .privateKey(pair.getPrivate())
                        .build());
    }
}
