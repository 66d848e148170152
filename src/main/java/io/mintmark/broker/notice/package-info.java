/** Tells tenants' receivers what becomes of requests for access. */
@NullMarked
package io.mintmark.broker.notice;

import org.jspecify.annotations.NullMarked;
