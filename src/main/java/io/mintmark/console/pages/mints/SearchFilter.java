package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.TypedTime;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A filter of a search that has no field in the form, or one that is folded.
 *
 * @param without the same search without it
 */
record SearchFilter(String name, String value, String without) {

    /** The filters of a page that have no visible field. */
    static List<SearchFilter> of(MintsPage page, SearchAddress address) {
        Wanted wanted = page.wanted();
        List<SearchFilter> filters = new ArrayList<>();
        if (!page.isUnfolded()) {
            add(filters, address, "tenant", "Tenant", wanted.tenant());
            add(filters, address, "key", "Key", wanted.key());
            add(filters, address, "from", "From", typed(page.span().from()));
            add(filters, address, "to", "To", typed(page.span().to()));
        }
        add(filters, address, "subject", "Subject", wanted.subject());
        add(filters, address, "actor", "Actor", wanted.actor());
        if (page.isOfNoOutcome()) {
            add(filters, address, "outcome", "Outcome", wanted.outcome());
        }
        add(filters, address, "before", "Older than", wanted.before().map(Object::toString));
        return filters;
    }

    private static Optional<String> typed(TypedTime end) {
        return Optional.of(end.text()).filter(text -> !text.isEmpty());
    }

    private static void add(
            List<SearchFilter> filters,
            SearchAddress address,
            String parameter,
            String name,
            Optional<String> value) {
        value.ifPresent(text ->
                filters.add(new SearchFilter(name, text, address.without(parameter).text())));
    }
}
