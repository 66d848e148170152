/**
 * The broker: verifies a token, decides on grants, records the mint, calls the provider and answers
 * over HTTP. May use {@code provider}, {@code audit} and {@code base}; of the other parts only the
 * commands know it as a whole. Begin at {@link io.mintmark.broker.exchange.Exchange}, which reads
 * as one page, and {@link io.mintmark.broker.wiring.Assembly}, which constructs everything.
 */
@NullMarked
package io.mintmark.broker;

import org.jspecify.annotations.NullMarked;
