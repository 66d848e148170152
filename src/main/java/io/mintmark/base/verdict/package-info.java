/** What rules say: passed, or refused and why. */
@NullMarked
package io.mintmark.base.verdict;

import org.jspecify.annotations.NullMarked;
