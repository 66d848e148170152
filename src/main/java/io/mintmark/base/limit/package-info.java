/** Rate limits: who a request counts against, and whether it may go on. */
@NullMarked
package io.mintmark.base.limit;

import org.jspecify.annotations.NullMarked;
