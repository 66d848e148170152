/** What the broker counts and times, for the operators' monitoring. */
@NullMarked
package io.mintmark.broker.metrics;

import org.jspecify.annotations.NullMarked;
