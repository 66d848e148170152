package io.mintmark.broker.revocation;

import java.util.Comparator;

/** An access provider whose servers read a list. */
public record ListIssuer(String type, String tenant, String provider)
        implements Comparable<ListIssuer> {
    private static final Comparator<ListIssuer> ORDER =
            Comparator.comparing(ListIssuer::type)
                    .thenComparing(ListIssuer::tenant)
                    .thenComparing(ListIssuer::provider);

    @Override
    public int compareTo(ListIssuer other) {
        return ORDER.compare(this, other);
    }
}
