/**
 * Guarded HTTP: where the broker may connect to, time-outs, sizes; secrets and references to them.
 */
@NullMarked
package io.mintmark.base.outbound;

import org.jspecify.annotations.NullMarked;
