/**
 * The auditor's tools: they verify the log, export it, collect evidence, and explain who may mint
 * or could in the past. May use {@code audit}, {@code base} and the broker's decision on a grant,
 * and reach neither the code that mints nor Helidon nor the AWS SDK, not even through other
 * classes. Begin at {@link io.mintmark.auditor.command.AuditVerify} and {@link
 * io.mintmark.auditor.verify.Verification}.
 */
@NullMarked
package io.mintmark.auditor;

import org.jspecify.annotations.NullMarked;
