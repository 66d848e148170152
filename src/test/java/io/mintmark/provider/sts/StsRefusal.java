package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.outbound.Secret;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** An error answer of the {@link StsStandIn}. */
public final class StsRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final String message;

    StsRefusal(int status, String code, String message) {
        super(message);
        this.status = status;
        this.code = code;
        this.message = message;
    }

    static StsRefusal validation(String message) {
        return new StsRefusal(400, "ValidationError", message);
    }

    static StsRefusal identity(String message) {
        return new StsRefusal(400, "InvalidIdentityToken", message);
    }

    /** How a stand-in refuses this token. */
    public static StsRefusal of(StsStandIn sts, Secret token) {
        return of(sts, Map.of("WebIdentityToken", token.reveal()));
    }

    /** How a stand-in refuses a call with these parameters, and the rest as it should be. */
    static StsRefusal of(StsStandIn sts, Map<String, String> parameters) {
        var all =
                new HashMap<>(
                        Map.of(
                                "Action", "AssumeRoleWithWebIdentity",
                                "Version", "2011-06-15",
                                "RoleArn", "arn:aws:iam::123456789012:role/deploy",
                                "RoleSessionName", "session",
                                "WebIdentityToken", "none"));
        all.putAll(parameters);
        return assertThrows(
                StsRefusal.class, () -> sts.check(new StsCall("/", Optional.empty(), all)));
    }

    int status() {
        return status;
    }

    String code() {
        return code;
    }

    public String message() {
        return message;
    }
}
