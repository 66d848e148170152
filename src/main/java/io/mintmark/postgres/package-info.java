/** The only room that talks SQL: stores, migrations, notifications. */
@NullMarked
package io.mintmark.postgres;

import org.jspecify.annotations.NullMarked;
