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
        /** AWS's, anonymously and with a token. */
        WEB_IDENTITY,
        /** AWS's, signed with the AWS credentials that the broker finds around it. */
        AMBIENT,
        /** Those of S3-compatible storage, anonymously and with a token. */
        STORAGE
    }

    /** Whether calls are signed with the broker's own AWS credentials. */
    public boolean ambient() {
        return use == Use.AMBIENT;
    }
}
