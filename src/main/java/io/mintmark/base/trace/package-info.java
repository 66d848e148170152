/** OpenTelemetry traces of requests: off, and free, unless the environment names a collector. */
@NullMarked
package io.mintmark.base.trace;

import org.jspecify.annotations.NullMarked;
