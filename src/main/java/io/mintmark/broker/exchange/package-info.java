/** The use case: a token in, credentials out, on record. */
@NullMarked
package io.mintmark.broker.exchange;

import org.jspecify.annotations.NullMarked;
