package io.mintmark.broker.token;

import com.nimbusds.jose.jwk.Curve;

import java.util.List;

/** The keys that the vectors name, made anew for each run. */
final class VectorKeys {
    private static final int WEAK = 1024;
    private static final int STRONG = 2048;

    private final List<TestKey> all =
            List.of(
                    TestKey.rsa("rsa-1", STRONG),
                    TestKey.rsa("rsa-2", STRONG),
                    TestKey.rsa("rsa-weak", WEAK),
                    TestKey.es256("ec-1"),
                    TestKey.es256("ec-2"),
                    TestKey.ec("ec-384", Curve.P_384),
                    TestKey.ec("ec-521", Curve.P_521),
                    TestKey.ed25519("ed-1"));

    TestKey named(String name) {
        return all.stream().filter(key -> key.id().equals(name)).findFirst().orElseThrow();
    }
}
