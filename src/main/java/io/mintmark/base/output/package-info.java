/** What commands print: tables, progress, rows of the log, and the reason why a command failed. */
@NullMarked
package io.mintmark.base.output;

import org.jspecify.annotations.NullMarked;
