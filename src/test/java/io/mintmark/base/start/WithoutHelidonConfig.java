package io.mintmark.base.start;

import org.junit.jupiter.api.extension.Extension;

/**
 * Keeps Helidon's own configuration away from every test of this JVM. Helidon's registry takes a
 * configuration only before a library asks for one, so this must run before the first test class.
 */
public final class WithoutHelidonConfig implements Extension {
    /** JUnit loads it before it runs anything; see {@code junit-platform.properties}. */
    public WithoutHelidonConfig() {
        NoHelidonConfig.only();
    }
}
