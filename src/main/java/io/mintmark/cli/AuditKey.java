package io.mintmark.cli;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;

import io.mintmark.identity.PrivateKeyPem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sees to it that the broker never starts without a key that can seal the audit log. */
final class AuditKey {
    private static final String REMEDY =
            "make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ";

    private AuditKey() {}

    static void requireUsable(Path file) {
        try {
            JWK key = PrivateKeyPem.read(Files.readString(file));
            if (!(key instanceof ECKey ec) || !Curve.P_256.equals(ec.getCurve())) {
                throw unfit(file, "holds a key that isn't P-256");
            }
        } catch (IOException | IllegalArgumentException e) {
            throw unfit(file, "can't be read as a private key in PEM");
        } catch (PrivateKeyPem.UnfitException e) {
            throw unfit(file, "holds no key to sign with: it " + e.getMessage());
        }
    }

    private static StartFailed unfit(Path file, String why) {
        return new StartFailed(
                "AUDIT_SIGNING_KEY_FILE: '%s' %s; %s%s".formatted(file, why, REMEDY, file));
    }
}
