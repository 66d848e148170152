/**
 * The commands {@code audit verify}, {@code show}, {@code export}, {@code evidence} and {@code
 * explain}.
 */
@NullMarked
package io.mintmark.auditor.command;

import org.jspecify.annotations.NullMarked;
