/** Type gcp: access tokens of Google Cloud, by workload identity federation. */
@NullMarked
package io.mintmark.mint.gcp;

import org.jspecify.annotations.NullMarked;
