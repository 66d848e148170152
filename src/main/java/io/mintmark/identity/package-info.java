/** The broker's own identity towards access providers. */
@NullMarked
package io.mintmark.identity;

import org.jspecify.annotations.NullMarked;
