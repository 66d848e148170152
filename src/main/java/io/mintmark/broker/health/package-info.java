/** The checks behind the health report. */
@NullMarked
package io.mintmark.broker.health;

import org.jspecify.annotations.NullMarked;
