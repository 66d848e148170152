/** Requests for access that somebody else has to agree to. */
@NullMarked
package io.mintmark.broker.approval;

import org.jspecify.annotations.NullMarked;
