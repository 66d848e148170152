/** Explains requests and blocks subjects, with the permissions of the person who asks. */
@NullMarked
package io.mintmark.postgres.admin;

import org.jspecify.annotations.NullMarked;
