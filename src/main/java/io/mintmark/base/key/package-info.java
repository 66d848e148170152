/** Private keys in PEM, and signing with them. */
@NullMarked
package io.mintmark.base.key;

import org.jspecify.annotations.NullMarked;
