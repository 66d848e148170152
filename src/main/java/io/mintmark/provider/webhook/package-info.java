/** Type webhook: credentials that a tenant's own HTTPS service makes. */
@NullMarked
package io.mintmark.provider.webhook;

import org.jspecify.annotations.NullMarked;
