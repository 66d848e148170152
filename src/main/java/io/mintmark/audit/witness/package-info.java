/**
 * Asks witnesses outside to cosign the log's notes. Begin at {@link
 * io.mintmark.audit.witness.WitnessSender}.
 */
@NullMarked
package io.mintmark.audit.witness;

import org.jspecify.annotations.NullMarked;
