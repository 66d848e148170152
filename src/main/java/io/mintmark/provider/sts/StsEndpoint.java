package io.mintmark.provider.sts;

import io.mintmark.provider.Endpoint;

/**
 * An STS, and how it is called.
 *
 * @param region for the signature, where there is one
 */
public record StsEndpoint(Endpoint endpoint, String region, Use use) {

    /** The kind of STS, and the broker's way to authenticate there. */
    public enum Use {
        /** AWS's STS, called anonymously and with a token. */
        WEB_IDENTITY,
        /**
         * AWS's STS, called with a signature by the AWS credentials from the broker's environment.
         */
        AMBIENT,
        /** The STS of S3-compatible storage, called anonymously and with a token. */
        STORAGE
    }

    /** Whether calls are signed with the broker's own AWS credentials. */
    public boolean ambient() {
        return use == Use.AMBIENT;
    }
}
