/**
 * How what is scarce is shared out, in one place each: permits ({@link SharedPermits}), requests
 * ({@link Windows}), and cost at a rate ({@link LeakyBucket}). Also who a request counts against.
 */
@NullMarked
package io.mintmark.base.limit;

import org.jspecify.annotations.NullMarked;
