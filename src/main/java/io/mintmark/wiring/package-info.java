/** The composition root: the only place that knows how a broker that serves is put together. */
@NullMarked
package io.mintmark.wiring;

import org.jspecify.annotations.NullMarked;
