/** Code that aws-sts and s3-sts share: calling an STS and understanding what it answers. */
@NullMarked
package io.mintmark.provider.sts;

import org.jspecify.annotations.NullMarked;
