/**
 * The access providers that mint credentials, a package for each type. May use only {@code base}: a
 * provider knows neither grants nor the audit log, and asks the broker for tokens through {@link
 * io.mintmark.provider.identity}. Begin at {@link AccessProvider}, then read the smallest type,
 * {@code provider.azure}.
 */
@NullMarked
package io.mintmark.provider;

import org.jspecify.annotations.NullMarked;
