package io.mintmark.base.tenant;

/**
 * Names a state of one chain of configuration changes. The revision alone doesn't: a database that
 * was restored, or promoted before it had received the last changes, counts the same revisions
 * again.
 *
 * @param revision the number of the last change; 0 before the first
 * @param hash that change's, in hexadecimal digits
 */
public record StateId(long revision, String hash) {
    /** Uses only the fields that mostly differ, because caches compute it for every request. */
    @Override
    public int hashCode() {
        return hash.hashCode();
    }

    @Override
    public String toString() {
        return revision + ":" + hash;
    }
}
