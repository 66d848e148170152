/**
 * {@code audit verify}, {@code show}, {@code retire} and the declarations about lost or forged
 * rows.
 */
@NullMarked
package io.mintmark.cli.audit;

import org.jspecify.annotations.NullMarked;
