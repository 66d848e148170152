/** Migrates the schema, and checks that schema and logins fit this program. */
@NullMarked
package io.mintmark.base.schema;

import org.jspecify.annotations.NullMarked;
