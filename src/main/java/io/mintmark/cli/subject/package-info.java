/** {@code explain} and {@code block-subject}: which keys a subject gets, and blocking it. */
@NullMarked
package io.mintmark.cli.subject;

import org.jspecify.annotations.NullMarked;
