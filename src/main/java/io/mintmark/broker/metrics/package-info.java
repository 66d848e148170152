/** The broker's metrics, for the operators' monitoring. */
@NullMarked
package io.mintmark.broker.metrics;

import org.jspecify.annotations.NullMarked;
