/**
 * A witness of transparency logs: it cosigns what only grew. Begin at {@link
 * io.mintmark.auditor.witness.Witness}.
 */
@NullMarked
package io.mintmark.auditor.witness;

import org.jspecify.annotations.NullMarked;
