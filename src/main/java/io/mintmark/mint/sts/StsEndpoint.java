package io.mintmark.mint.sts;

import io.mintmark.mint.Endpoint;

/**
 * An STS, and as whom it is called.
 *
 * @param region for the signature, where there is one
 * @param ambient whether calls are signed with the AWS credentials that the broker finds around it;
 *     otherwise they are anonymous and carry a token
 */
public record StsEndpoint(Endpoint endpoint, String region, boolean ambient) {}
