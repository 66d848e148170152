/** The verification of the log that users of the console start, in the background. */
@NullMarked
package io.mintmark.console.verification;

import org.jspecify.annotations.NullMarked;
