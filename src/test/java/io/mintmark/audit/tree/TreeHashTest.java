package io.mintmark.audit.tree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.HexFormat;
import java.util.List;

/** The trees that implementations of RFC 6962 and RFC 9162 test with. */
class TreeHashTest {
    static final List<String> LEAVES =
            List.of(
                    "",
                    "00",
                    "10",
                    "2021",
                    "3031",
                    "40414243",
                    "5051525354555657",
                    "606162636465666768696a6b6c6d6e6f");

    /** The root of the first so many leaves. */
    static final List<String> ROOTS =
            List.of(
                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");

    @Test
    void each_leaf_gives_the_root_that_the_vectors_have() {
        TreeHash tree = new TreeHash();
        for (int size = 0; size < ROOTS.size(); size++) {
            assertEquals(size, tree.size());
            assertEquals(ROOTS.get(size), HexFormat.of().formatHex(tree.root()));
            if (size < LEAVES.size()) {
                tree.add(HexFormat.of().parseHex(LEAVES.get(size)));
            }
        }
    }

    /** What a start reads of a year of checkpoints. */
    @Test
    void a_tree_goes_on_from_its_edge_which_is_under_a_kilobyte_after_a_year() {
        TreeHash whole = new TreeHash();
        for (int leaf = 0; leaf < 365 * 24 * 60 - 1; leaf++) {
            whole.add(new byte[] {(byte) leaf});
        }
        assertTrue(whole.packedEdge().length < 1024);
        TreeHash again = TreeHash.of(whole.size(), whole.packedEdge());
        whole.add(new byte[1]);
        again.add(new byte[1]);
        assertArrayEquals(whole.root(), again.root());
    }
}
