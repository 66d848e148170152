/** Names as types: of tenants, keys, providers and mints. */
@NullMarked
package io.mintmark.base.tenant;

import org.jspecify.annotations.NullMarked;
