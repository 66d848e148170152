/** Ends what mints leave behind at their providers, once their time is over or nobody has them. */
@NullMarked
package io.mintmark.broker.ending;

import org.jspecify.annotations.NullMarked;
