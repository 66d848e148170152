/** Migrations, the schema's version and manifest, and what each login may do in it. */
@NullMarked
package io.mintmark.postgres.migration;

import org.jspecify.annotations.NullMarked;
