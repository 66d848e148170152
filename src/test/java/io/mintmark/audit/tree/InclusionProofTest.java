package io.mintmark.audit.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

class InclusionProofTest {
    private static final HexFormat HEX = HexFormat.of();

    private static List<String> path(int size, int index) {
        List<byte[]> contents = new ArrayList<>();
        TreeHashTest.LEAVES.subList(0, size).forEach(leaf -> contents.add(HEX.parseHex(leaf)));
        return InclusionProof.path(contents, index).stream().map(HEX::formatHex).toList();
    }

    /** The paths that implementations of RFC 6962 and RFC 9162 test with. */
    @Test
    void the_paths_are_those_of_the_vectors() {
        assertEquals(List.of(), path(1, 0));
        assertEquals(
                List.of(
                        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"),
                path(8, 0));
        assertEquals(
                List.of(
                        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
                path(8, 5));
        assertEquals(
                List.of("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
                path(3, 2));
        assertEquals(
                List.of(
                        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"),
                path(5, 1));
    }
}
