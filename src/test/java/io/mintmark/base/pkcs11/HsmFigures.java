package io.mintmark.base.pkcs11;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.key.SigningKey;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tokens a second, signed with keys in memory, as from a file, and with keys in SoftHSM. */
class HsmFigures {
    private static final Duration EACH = Duration.ofSeconds(3);
    private static final JWTClaimsSet CLAIMS =
            new JWTClaimsSet.Builder().subject("tenant:acme:key:deploy").audience("aud").build();

    @Test
    void signatures_from_a_file_and_from_a_token() throws Exception {
        SoftHsm hsm = SoftHsm.token();
        try (Pkcs11Module module =
                Pkcs11Module.open(
                        new SettingsReader(hsm.settings(), Path.of("nowhere"))
                                .pkcs11()
                                .orElseThrow())) {
            compare(
                    "P-256",
                    new ECKeyGenerator(Curve.P_256).generate(),
                    module,
                    hsm.p256("speed-ec"));
            compare("RSA 3072", new RSAKeyGenerator(3072).generate(), module, hsm.rsa("speed-rsa"));
        }
    }

    private static void compare(String kind, JWK file, Pkcs11Module module, String uri)
            throws Exception {
        SigningKey fromFile = SigningKey.of(file);
        SigningKey inToken = SigningKey.of(module.key(Pkcs11Uri.parse(uri)).jwk());
        for (int threads : List.of(1, 8)) {
            rate(fromFile, threads);
            rate(inToken, threads);
            System.out.printf(
                    "%s, %d at once: file %,d/s, token %,d/s%n",
                    kind, threads, rate(fromFile, threads), rate(inToken, threads));
        }
    }

    private static long rate(SigningKey key, int threads) throws Exception {
        long end = System.nanoTime() + EACH.toNanos();
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Long>> counts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                counts.add(
                        executor.submit(() -> {
                            long signed = 0;
                            while (System.nanoTime() < end) {
                                assertEquals(
                                        3,
                                        key.sign(JOSEObjectType.JWT, CLAIMS)
                                                .reveal()
                                                .split("\\.")
                                                .length);
                                signed++;
                            }
                            return signed;
                        }));
            }
            long all = 0;
            for (Future<Long> count : counts) {
                all += count.get();
            }
            return all / EACH.toSeconds();
        }
    }
}
