package io.mintmark.audit.checkpoint;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;

import io.mintmark.base.start.StartFailed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Reads the keys that an auditor trusts, as {@code openssl pkey -pubout} writes them. */
public final class PublicKeys {
    private static final Pattern PUBLIC_KEY =
            Pattern.compile(
                    "-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", Pattern.DOTALL);

    private PublicKeys() {}

    /**
     * Every key of a file.
     *
     * @param named what the operator named the file by, for the message
     * @throws StartFailed if it holds none, or anything else
     */
    public static List<ECKey> read(Path file, String named) {
        try {
            List<String> components =
                    PUBLIC_KEY
                            .matcher(Files.readString(file))
                            .results()
                            .map(MatchResult::group)
                            .toList();
            if (components.isEmpty()) {
                throw unfit(named, file, "holds no public key");
            }
            return components.stream().map(part -> key(part, named, file)).toList();
        } catch (IOException e) {
            throw unfit(named, file, "can't be read");
        }
    }

    private static ECKey key(String pem, String named, Path file) {
        try {
            JWK key = JWK.parseFromPEMEncodedObjects(pem);
            if (key instanceof ECKey ec && Curve.P_256.equals(ec.getCurve())) {
                return ec;
            }
        } catch (JOSEException | RuntimeException e) {
            throw unfit(named, file, "holds a public key that is damaged or isn't P-256");
        }
        throw unfit(named, file, "holds a key that isn't P-256");
    }

    private static StartFailed unfit(String named, Path file, String why) {
        return new StartFailed(
                "%s: '%s' %s; write it with: openssl pkey -in KEY -pubout -out %s"
                        .formatted(named, file, why, file));
    }
}
