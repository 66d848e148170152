/** Verification of a log: its chains, checkpoints, retired months, and a grant for every mint. */
@NullMarked
package io.mintmark.auditor.verify;

import org.jspecify.annotations.NullMarked;
