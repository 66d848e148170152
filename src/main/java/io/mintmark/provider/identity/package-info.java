/**
 * What a provider asks of the broker's identity: tokens, assertions and signatures. The broker
 * implements it.
 */
@NullMarked
package io.mintmark.provider.identity;

import org.jspecify.annotations.NullMarked;
