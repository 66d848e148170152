/** What happened, written down before and after. */
@NullMarked
package io.mintmark.audit;

import org.jspecify.annotations.NullMarked;
