/** What rules say: passed, or refused and why. */
@NullMarked
package io.mintmark.verdict;

import org.jspecify.annotations.NullMarked;
