/** Results of verifications, which the database keeps. They inform people, and prove nothing. */
@NullMarked
package io.mintmark.auditor.result;

import org.jspecify.annotations.NullMarked;
