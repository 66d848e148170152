/** The page at {@code /proof}: whether the log is intact, and the file of checkpoints. */
@NullMarked
package io.mintmark.console.pages.proof;

import org.jspecify.annotations.NullMarked;
