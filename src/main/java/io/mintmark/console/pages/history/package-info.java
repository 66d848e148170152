/**
 * The pages at {@code /history} and {@code /tenants/{tenant}/history}: how the configuration was
 * changed.
 */
@NullMarked
package io.mintmark.console.pages.history;

import org.jspecify.annotations.NullMarked;
