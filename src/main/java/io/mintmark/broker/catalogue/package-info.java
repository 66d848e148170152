/** Reads tenants, identity providers, keys and grants from PostgreSQL. */
@NullMarked
package io.mintmark.broker.catalogue;

import org.jspecify.annotations.NullMarked;
