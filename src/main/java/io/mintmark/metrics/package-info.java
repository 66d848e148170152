/** What the broker counts and times, for the operators' monitoring. */
@NullMarked
package io.mintmark.metrics;

import org.jspecify.annotations.NullMarked;
