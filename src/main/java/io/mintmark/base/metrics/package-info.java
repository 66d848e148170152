/** The metrics of the broker and the console, and how they are counted. */
@NullMarked
package io.mintmark.base.metrics;

import org.jspecify.annotations.NullMarked;
