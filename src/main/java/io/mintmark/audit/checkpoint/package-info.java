/**
 * Signed checkpoints: what they seal, the keys that sign them, and the keys that verifiers trust.
 */
@NullMarked
package io.mintmark.audit.checkpoint;

import org.jspecify.annotations.NullMarked;
