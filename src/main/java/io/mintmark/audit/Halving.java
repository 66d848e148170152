package io.mintmark.audit;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Commits many items at once. One that the store refuses takes no other along: the group is halved
 * until the refused one stands alone.
 */
final class Halving {
    private Halving() {}

    /**
     * Commits all items.
     *
     * @param commit a group; throws {@link StoreUnreachable}, which ends this, or another exception
     *     if the store refuses the group, or part of it can't even be put into a row
     * @param refused takes an item that was refused alone
     */
    static <T> void commit(
            List<T> items, Consumer<List<T>> commit, BiConsumer<T, RuntimeException> refused) {
        if (items.isEmpty()) {
            return;
        }
        try {
            commit.accept(items);
        } catch (StoreUnreachable e) {
            throw e;
        } catch (RuntimeException e) {
            if (items.size() == 1) {
                refused.accept(items.getFirst(), e);
            } else {
                int half = items.size() / 2;
                commit(items.subList(0, half), commit, refused);
                commit(items.subList(half, items.size()), commit, refused);
            }
        }
    }
}
