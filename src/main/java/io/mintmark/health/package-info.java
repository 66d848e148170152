/** The checks behind the health report. */
@NullMarked
package io.mintmark.health;

import org.jspecify.annotations.NullMarked;
