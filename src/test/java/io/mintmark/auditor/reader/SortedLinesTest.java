package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.auditor.reader.PlacedLine.Chain;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

class SortedLinesTest {
    private static PlacedLine line(String chain, long place, String text) {
        return new PlacedLine(
                new Chain(1, Optional.of(chain).filter(name -> !name.isEmpty())),
                place,
                "here",
                text);
    }

    private static List<String> all(SortedLines lines) throws Exception {
        List<String> all = new ArrayList<>();
        lines.each(1, line -> all.add(line.text()));
        return all;
    }

    @Test
    void lines_come_in_the_order_of_their_chains_however_many_pieces_they_were_sorted_in()
            throws Exception {
        List<PlacedLine> given = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (String chain : List.of("a", "b\u00e9", "")) {
            for (int place = 1; place <= 200; place++) {
                given.add(line(chain, place, chain + place));
                expected.add(chain + place);
            }
        }
        given.addAll(given.subList(10, 40));
        Collections.shuffle(given, new Random(1));
        try (SortedLines lines = new SortedLines(100)) {
            for (PlacedLine line : given) {
                lines.add(line);
            }
            lines.sort();
            assertEquals(expected, all(lines));
            for (PlacedLine line : given) {
                assertEquals(Optional.of(line), lines.at(line.place().chain(), line.place().at()));
            }
            assertEquals(Optional.empty(), lines.at(new Chain(1, Optional.of("a")), 201));
            assertEquals(Optional.empty(), lines.at(new Chain(2, Optional.of("a")), 1));
            assertEquals(200, lines.last(new Chain(1, Optional.of("a"))));
        }
    }

    @Test
    void lines_that_differ_at_one_place_are_all_given_and_the_rest_is_found_all_the_same()
            throws Exception {
        try (SortedLines lines = new SortedLines(1)) {
            for (String text : List.of("a1", "a2", "a2", "other", "a2", "a3", "a4")) {
                lines.add(line("a", text.equals("other") ? 2 : text.charAt(1) - '0', text));
            }
            lines.add(line("a", 7, "a7"));
            lines.sort();
            assertEquals(List.of("a1", "a2", "other", "a3", "a4", "a7"), all(lines));
            Chain chain = new Chain(1, Optional.of("a"));
            for (int place : List.of(1, 2, 3, 4, 7)) {
                assertEquals("a" + place, lines.at(chain, place).orElseThrow().text());
            }
            assertEquals(Optional.empty(), lines.at(chain, 5));
        }
    }
}
