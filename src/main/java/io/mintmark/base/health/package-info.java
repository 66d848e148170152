/** The checks behind the health report. */
@NullMarked
package io.mintmark.base.health;

import org.jspecify.annotations.NullMarked;
