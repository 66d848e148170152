package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.broker.http.InterfaceDocument.Example;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class InterfaceDocumentTest {
    private static final InterfaceDocument document = new InterfaceDocument();
    private static List<Exchanged> answers = List.of();

    @BeforeAll
    static void ask() {
        answers = new Everything(document).provoked();
    }

    @Test
    void every_answer_is_as_the_document_says() {
        List<String> problems = new ArrayList<>();
        for (Exchanged seen : answers) {
            boolean withBody = !seen.request().startsWith("HEAD ");
            document.problems(seen.place(), seen.answer(), withBody)
                    .forEach(problem ->
                            problems.add(seen.request() + " " + seen.answer() + ": " + problem));
        }
        assertEquals("", String.join("\n", problems));
    }

    @Test
    void every_answer_of_the_document_was_given() {
        Set<String> missing = new TreeSet<>();
        for (InterfaceDocument.Place place : document.places()) {
            place.responses()
                    .properties()
                    .forEach(response -> missing.add(place.name() + " " + response.getKey()));
        }
        answers.forEach(seen -> missing.remove(seen.documented()));
        missing.removeIf(InterfaceDocumentTest::isBeyondReach);
        assertEquals(Set.of(), missing);
    }

    /** Nothing that a client or the world does is known to make these fail. */
    private static boolean isBeyondReach(String documented) {
        return documented.endsWith(" 500") && !documented.equals("POST /credentials/mint 500");
    }

    @Test
    void every_kind_of_error_has_an_example_and_every_example_is_of_a_kind_that_was_given() {
        Set<String> given =
                answers.stream()
                        .map(Exchanged::kind)
                        .filter(kind -> !kind.isEmpty())
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> shown =
                document.examples().stream()
                        .map(Example::value)
                        .filter(value -> value.path("error").isTextual())
                        .map(Exchanged::kind)
                        .filter(kind -> !kind.equals("INTERNAL_ERROR ")) // beyond reach, as above
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(String.join("\n", given), String.join("\n", shown));
    }

    @Test
    void every_example_is_as_its_schema_says() {
        List<Example> examples = document.examples();
        assertTrue(examples.size() > 40, "only " + examples.size());
        for (Example example : examples) {
            assertEquals(
                    List.of(), document.check(example.schema(), example.value()), example.where());
        }
    }

    @Test
    void every_path_with_its_methods_stands_in_the_document() {
        Set<String> documented =
                document.places().stream()
                        .map(InterfaceDocument.Place::name)
                        .filter(name -> name.contains(" "))
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> served = new TreeSet<>();
        Stream.of(Routes.METHODS, Routes.METHODS_OF_PROTOCOLS)
                .flatMap(routes -> routes.entrySet().stream())
                .forEach(route ->
                        List.of(route.getValue().split(", "))
                                .forEach(method -> served.add(method + " " + route.getKey())));
        assertEquals(served, documented);
    }
}
