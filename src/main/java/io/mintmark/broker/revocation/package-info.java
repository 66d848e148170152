/** Lists of credentials that were ended before their time, for the servers that accept them. */
@NullMarked
package io.mintmark.broker.revocation;

import org.jspecify.annotations.NullMarked;
