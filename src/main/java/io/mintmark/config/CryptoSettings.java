package io.mintmark.config;

import java.util.List;

/**
 * Whose code signs and verifies.
 *
 * @param nativeSignatures whether a native library may do it where it loads
 */
public record CryptoSettings(boolean nativeSignatures) {
    static final Setting<Boolean> NATIVE_SIGNATURES =
            Setting.of(
                    "crypto.native-signatures",
                    Formats.BOOLEAN,
                    "true",
                    "Sign and verify with Amazon Corretto Crypto Provider where it loads (Linux on"
                            + " x86-64 and arm64), else with the JDK.");

    static final List<Setting<?>> TABLE = List.of(NATIVE_SIGNATURES);

    static CryptoSettings from(Values values) {
        return new CryptoSettings(values.get(NATIVE_SIGNATURES));
    }
}
