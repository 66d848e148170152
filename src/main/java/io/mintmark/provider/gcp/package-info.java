/** Type gcp: access tokens of Google Cloud, by workload identity federation. */
@NullMarked
package io.mintmark.provider.gcp;

import org.jspecify.annotations.NullMarked;
