/** Access providers: what is asked of them and what they give. */
@NullMarked
package io.mintmark.mint;

import org.jspecify.annotations.NullMarked;
