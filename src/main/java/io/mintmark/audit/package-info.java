/**
 * The audit log: events, writing them before a credential is returned, the hash chain and its
 * checkpoints. May use only {@code base}. Begin at {@link AuditLog}, whose callers wait until their
 * rows are committed, and {@link io.mintmark.audit.checkpoint.Sealer}.
 */
@NullMarked
package io.mintmark.audit;

import org.jspecify.annotations.NullMarked;
