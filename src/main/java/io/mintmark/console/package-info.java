/**
 * Pages for people: a process of its own that can't mint and writes nothing, and shows each viewer
 * what the claims of the ID token give.
 */
@NullMarked
package io.mintmark.console;

import org.jspecify.annotations.NullMarked;
