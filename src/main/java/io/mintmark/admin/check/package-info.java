/** The command {@code check}: whether a broker with these settings would start. */
@NullMarked
package io.mintmark.admin.check;

import org.jspecify.annotations.NullMarked;
