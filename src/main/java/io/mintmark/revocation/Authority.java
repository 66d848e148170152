package io.mintmark.revocation;

import java.util.Comparator;

/**
 * An access provider whose servers read a list.
 *
 * @param type of the access provider
 */
public record Authority(String type, String tenant, String provider)
        implements Comparable<Authority> {
    private static final Comparator<Authority> ORDER =
            Comparator.comparing(Authority::type)
                    .thenComparing(Authority::tenant)
                    .thenComparing(Authority::provider);

    @Override
    public int compareTo(Authority other) {
        return ORDER.compare(this, other);
    }
}
