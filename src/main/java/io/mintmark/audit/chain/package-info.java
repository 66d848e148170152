/** Hash chains: the bytes that a row is hashed as, and the rows of one writer linked by hashes. */
@NullMarked
package io.mintmark.audit.chain;

import org.jspecify.annotations.NullMarked;
