/**
 * The console: pages for people, in a process of its own that writes only results of verifications
 * and shows each viewer only what the claims of the ID token permit. May use {@code auditor},
 * {@code audit}, {@code base} and {@code broker.token}, and doesn't reach the code that mints.
 * Begin at {@link ConsoleServer} for the login and at {@link io.mintmark.console.pages.Pages} for
 * the pages.
 */
@NullMarked
package io.mintmark.console;

import org.jspecify.annotations.NullMarked;
