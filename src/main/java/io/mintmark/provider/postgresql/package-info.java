/** Type postgresql: roles with an expiry that a tenant's own PostgreSQL server keeps. */
@NullMarked
package io.mintmark.provider.postgresql;

import org.jspecify.annotations.NullMarked;
