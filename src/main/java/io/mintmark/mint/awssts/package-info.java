/** Type aws-sts: credentials of AWS roles. */
@NullMarked
package io.mintmark.mint.awssts;

import org.jspecify.annotations.NullMarked;
