/** Starts the console: settings, checks, construction. */
@NullMarked
package io.mintmark.console.wiring;

import org.jspecify.annotations.NullMarked;
