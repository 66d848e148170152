/** The command line: runs the broker, the console or one of the commands in the packages below. */
@NullMarked
package io.mintmark.cli;

import org.jspecify.annotations.NullMarked;
