package io.mintmark.broker.http;

import java.util.regex.Pattern;

/**
 * Which protocol a path speaks: that of the interface, or one that clients have built in. Browsers'
 * applications may be let into the interface; the others aren't for them.
 */
enum Protocol {
    INTERFACE,
    AWS_SDK,
    STS,
    OAUTH;

    private static final Pattern TOKEN_OF_TENANT =
            Pattern.compile("/tenants/[A-Za-z0-9_-][A-Za-z0-9_.-]*/oauth2/v2\\.0/token");

    /** The protocol of a path, as it was sent or as it was understood. */
    static Protocol of(String path) {
        if (path.startsWith(AwsSdkRoute.PREFIX)) {
            return AWS_SDK;
        }
        if (path.equals(StsRoute.PATH) || path.startsWith(StsRoute.PATH + "/")) {
            return STS;
        }
        return path.equals(OAuthRoutes.TOKEN)
                        || path.equals(OAuthRoutes.METADATA)
                        || TOKEN_OF_TENANT.matcher(path).matches()
                ? OAUTH
                : INTERFACE;
    }

    boolean isForBrowsers() {
        return this == INTERFACE;
    }

    ErrorAnswer answer(ErrorBody error) {
        return switch (this) {
            case INTERFACE -> error;
            case AWS_SDK -> new AwsSdkError(error);
            case STS -> StsError.of(error);
            case OAUTH -> OAuthError.of(error);
        };
    }
}
