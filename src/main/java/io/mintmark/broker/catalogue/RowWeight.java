package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The heap that a row's object takes, in bytes: an estimate by what the row's JSON document has.
 * {@code RowWeightTest} measures that rows of any form take no more.
 *
 * @param row of each row, its columns included
 * @param value of each value within a column: each member of an object and each element of a list
 * @param conditions whether texts can be globs, and names JSON pointers, which are kept ready to be
 *     matched
 */
record RowWeight(int row, int value, boolean conditions) {
    /** Keys: the settings are kept as a tree. */
    static final RowWeight OF_SETTINGS = new RowWeight(1664, 160, false);

    /** Grants, blocks, access and identity providers. */
    static final RowWeight OF_CONDITIONS = new RowWeight(768, 224, true);

    private static final int CHARACTER = 2;
    private static final int CHARACTER_OF_GLOB = 6;
    private static final int STAR = 176;
    private static final int SEGMENT_OF_POINTER = 104;

    long of(JsonNode document) {
        return row + document.valueStream().mapToLong(this::ofColumn).sum();
    }

    private long ofColumn(JsonNode column) {
        return column.isContainerNode() ? ofContents(column) : ofText(column.asText());
    }

    private long ofContents(JsonNode container) {
        long names = 0;
        for (var member : container.properties()) {
            names += ofName(member.getKey());
        }
        return names + container.valueStream().mapToLong(node -> value + ofColumn(node)).sum();
    }

    private long ofName(String name) {
        return (long) CHARACTER * name.length() + SEGMENT_OF_POINTER * count('/', name);
    }

    private long ofText(String text) {
        long stars = count('*', text);
        return stars == 0
                ? (long) CHARACTER * text.length()
                : (long) CHARACTER_OF_GLOB * text.length() + STAR * stars;
    }

    private long count(char sign, String text) {
        return conditions ? text.chars().filter(character -> character == sign).count() : 0;
    }
}
