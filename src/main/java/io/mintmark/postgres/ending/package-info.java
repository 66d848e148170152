/**
 * Claims mints that left something behind at their provider, and notes what came of ending them.
 */
@NullMarked
package io.mintmark.postgres.ending;

import org.jspecify.annotations.NullMarked;
