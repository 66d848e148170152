/** The pages at {@code /tenants}: which tenants exist, and how one is configured. */
@NullMarked
package io.mintmark.console.pages.tenants;

import org.jspecify.annotations.NullMarked;
