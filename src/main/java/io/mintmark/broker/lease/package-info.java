/**
 * Revokes leases, which are what mints leave behind at their providers, once their time is over or
 * nobody has them.
 */
@NullMarked
package io.mintmark.broker.lease;

import org.jspecify.annotations.NullMarked;
