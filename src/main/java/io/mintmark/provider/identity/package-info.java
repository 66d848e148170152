/**
 * The broker's identity as providers use it: tokens, assertions and signatures. The broker
 * implements it.
 */
@NullMarked
package io.mintmark.provider.identity;

import org.jspecify.annotations.NullMarked;
