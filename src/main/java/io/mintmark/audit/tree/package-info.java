/**
 * Merkle trees of RFC 9162: their hashes, and proofs that they contain a leaf or a smaller tree.
 */
@NullMarked
package io.mintmark.audit.tree;

import org.jspecify.annotations.NullMarked;
