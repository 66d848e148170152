/** The subcommands. */
@NullMarked
package io.mintmark.cli;

import org.jspecify.annotations.NullMarked;
