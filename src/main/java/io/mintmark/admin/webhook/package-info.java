/** {@code check-webhook}: calls a service as the broker does, and checks what it accepts. */
@NullMarked
package io.mintmark.admin.webhook;

import org.jspecify.annotations.NullMarked;
