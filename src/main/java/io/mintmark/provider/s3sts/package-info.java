/** Type s3-sts: credentials of S3-compatible storage that has an STS. */
@NullMarked
package io.mintmark.provider.s3sts;

import org.jspecify.annotations.NullMarked;
