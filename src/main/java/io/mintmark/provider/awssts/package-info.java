/** Type aws-sts: credentials of AWS roles. */
@NullMarked
package io.mintmark.provider.awssts;

import org.jspecify.annotations.NullMarked;
