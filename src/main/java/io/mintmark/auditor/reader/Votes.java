package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Counts the approvals of a request: each approver once, and in one step only.
 *
 * <p>Steps are sets of bits, the first step as 2.
 */
final class Votes {
    private static final List<Integer> FIRST = List.of(1);

    private final JsonNode request;
    private final List<Set<String>> voters = new ArrayList<>();
    private final List<Integer> all = new ArrayList<>();
    private final List<Integer> ofPeople = new ArrayList<>();

    Votes(JsonNode request) {
        this.request = request;
    }

    /** The steps of a rule, request, decision or approver; those of older rows are the first. */
    static List<Integer> steps(JsonNode row) {
        JsonNode steps = row.path("steps");
        if (steps.isArray()) {
            return steps.valueStream().map(JsonNode::intValue).sorted().toList();
        }
        return row.hasNonNull("step") ? List.of(row.path("step").intValue()) : FIRST;
    }

    /**
     * The number of approvals that must come from people. Older rows lack the field and need one.
     */
    static int people(JsonNode row) {
        return row.path("people").asInt(1);
    }

    /**
     * The number of approvals that a request needs in all steps together; 0 for break-glass access.
     */
    static int needed(JsonNode request) {
        return request.path("break_glass").asBoolean()
                ? 0
                : request.path("approvals").asInt() * steps(request).size();
    }

    /**
     * Adds a vote, unless its person has voted by another name.
     *
     * @param names all names of the person
     * @param rows the rows of approvers that allow the vote
     * @param program whether the voter is a program
     */
    void add(JsonNode decision, Set<String> names, List<JsonNode> rows, boolean program) {
        List<Integer> allowed = steps(decision);
        int set = 0;
        for (JsonNode row : rows) {
            for (int step : steps(row)) {
                set |= allowed.contains(step) ? 1 << step : 0;
            }
        }
        boolean unexplained = program && decision.path("note").asText("").isEmpty();
        if (set == 0
                || unexplained
                || voters.stream().anyMatch(other -> !Collections.disjoint(other, names))) {
            return;
        }
        voters.add(names);
        all.add(set);
        if (!program) {
            ofPeople.add(set);
        }
    }

    /** The number of approvals that count. */
    int given() {
        return filled(all);
    }

    /** The number of approvals that count if those of programs are ignored. */
    int ofPeople() {
        return filled(ofPeople);
    }

    /**
     * The number of required approvals that can be given, with each voter in one step only. By the
     * theorems of König and Hall, this is the minimum, over all sets of steps, of the approvers of
     * these steps and the places in the other ones.
     */
    private int filled(List<Integer> sets) {
        List<Integer> steps = steps(request);
        int places = request.path("approvals").asInt();
        int least = Integer.MAX_VALUE;
        for (int chosen = 0; chosen < 1 << steps.size(); chosen++) {
            int bits = 0;
            for (int i = 0; i < steps.size(); i++) {
                bits |= (chosen >> i & 1) == 0 ? 0 : 1 << steps.get(i);
            }
            int wanted = bits;
            long fit = sets.stream().filter(set -> (set & wanted) != 0).count();
            least = Math.min(least, places * (steps.size() - Integer.bitCount(chosen)) + (int) fit);
        }
        return least;
    }
}
