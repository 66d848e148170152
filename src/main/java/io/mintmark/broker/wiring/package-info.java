/** The composition root: the only package that knows how a serving broker is put together. */
@NullMarked
package io.mintmark.broker.wiring;

import org.jspecify.annotations.NullMarked;
