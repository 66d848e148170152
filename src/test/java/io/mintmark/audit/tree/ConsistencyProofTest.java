package io.mintmark.audit.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

public class ConsistencyProofTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final int LARGEST = 33;

    private record Sized(long size, List<String> hex) implements ConsistencyProof.Tree {
        @Override
        public byte[] root() {
            return HEX.parseHex(hex.getFirst());
        }
    }

    private static ConsistencyProof.Tree tree(List<byte[]> leaves) {
        TreeHash tree = new TreeHash();
        leaves.forEach(tree::add);
        return new Sized(leaves.size(), List.of(HEX.formatHex(tree.root())));
    }

    /** The definition of RFC 9162 section 2.1.4.1, word by word. */
    public static List<byte[]> proof(List<byte[]> leaves, int first) {
        return first == 0 || first == leaves.size() ? List.of() : subproof(leaves, first, true);
    }

    private static List<byte[]> subproof(List<byte[]> leaves, int first, boolean whole) {
        if (first == leaves.size()) {
            return whole ? List.of() : List.of(tree(leaves).root());
        }
        int half = Integer.highestOneBit(leaves.size() - 1);
        List<byte[]> left = leaves.subList(0, half);
        List<byte[]> right = leaves.subList(half, leaves.size());
        List<byte[]> proof =
                new ArrayList<>(
                        first <= half
                                ? subproof(left, first, whole)
                                : subproof(right, first - half, false));
        proof.add(tree(first <= half ? right : left).root());
        return proof;
    }

    private static List<byte[]> leaves(int count) {
        List<byte[]> leaves = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            leaves.add(new byte[] {(byte) i});
        }
        return leaves;
    }

    /** The proofs that implementations of RFC 6962 and RFC 9162 test with. */
    @Test
    void the_proofs_of_the_vectors_hold() {
        holds(
                1,
                8,
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4");
        holds(
                6,
                8,
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7");
        holds(
                2,
                5,
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b");
    }

    private static void holds(int first, int second, String... proof) {
        assertTrue(
                ConsistencyProof.holds(
                        new Sized(first, List.of(TreeHashTest.ROOTS.get(first))),
                        new Sized(second, List.of(TreeHashTest.ROOTS.get(second))),
                        List.of(proof).stream().map(HEX::parseHex).toList()));
    }

    @Test
    void every_proof_holds_for_its_trees_and_no_other() {
        for (int second = 0; second <= LARGEST; second++) {
            for (int first = 0; first <= second; first++) {
                List<byte[]> all = leaves(second);
                List<byte[]> proof = proof(all, first);
                ConsistencyProof.Tree small = tree(all.subList(0, first));
                ConsistencyProof.Tree large = tree(all);
                assertTrue(ConsistencyProof.holds(small, large, proof));
                assertFalse(ConsistencyProof.holds(large, small, proof) && first < second);
                if (first > 0) {
                    isOnlyFor(small, large, proof);
                }
            }
        }
    }

    private static void isOnlyFor(
            ConsistencyProof.Tree small, ConsistencyProof.Tree large, List<byte[]> proof) {
        List<String> other = List.of("ab".repeat(32));
        assertFalse(ConsistencyProof.holds(new Sized(small.size(), other), large, proof));
        assertFalse(ConsistencyProof.holds(small, new Sized(large.size(), other), proof));
        List<byte[]> longer = new ArrayList<>(proof);
        longer.add(HEX.parseHex(other.getFirst()));
        assertFalse(ConsistencyProof.holds(small, large, longer));
        for (int i = 0; i < proof.size(); i++) {
            List<byte[]> changed = new ArrayList<>(proof);
            changed.set(i, HEX.parseHex(other.getFirst()));
            assertFalse(ConsistencyProof.holds(small, large, changed));
            changed.remove(i);
            assertFalse(ConsistencyProof.holds(small, large, changed));
        }
    }

    /** A checkpoint a minute for a year; the largest proofs are of odd sizes. */
    @Test
    void a_proof_within_a_year_of_checkpoints_has_at_most_21_hashes() {
        int year = 365 * 24 * 60;
        int largest = 0;
        for (int first = 0; first <= year; first++) {
            int size = ConsistencyProof.between(first, year, (_, _) -> new byte[0]).size();
            assertTrue(first % 2 == 1 || size <= 20, "from " + first);
            largest = Math.max(largest, size);
        }
        assertEquals(21, largest);
    }

    @Test
    void a_proof_from_subtrees_is_that_of_the_definition() {
        for (int second = 1; second <= LARGEST; second++) {
            List<byte[]> leaves = leaves(second);
            for (int first = 0; first <= second; first++) {
                assertEquals(
                        proof(leaves, first).stream().map(HEX::formatHex).toList(),
                        ConsistencyProof.between(
                                        first,
                                        second,
                                        (from, to) ->
                                                tree(leaves.subList((int) from, (int) to)).root())
                                .stream()
                                .map(HEX::formatHex)
                                .toList());
            }
        }
    }
}
