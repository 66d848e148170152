/** Verification of a log: its chains, checkpoints, retired months, and a grant for every mint. */
@NullMarked
package io.mintmark.audit.verify;

import org.jspecify.annotations.NullMarked;
