package io.mintmark.outbound;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;

/**
 * What one request sent and nobody may be told, and where an answer quotes it. What is compared is
 * the letters and digits alone, after URL, HTML and JSON escapes are undone, without their case: so
 * a secret is found as it is, encoded once or more, in base64 of any alphabet and at any place in
 * it, in hexadecimal, wrapped, spaced out, and cut off on either side.
 *
 * <p>Eight characters in a row that a secret has too are taken for a piece of it; fewer tell nobody
 * anything. Of a short secret half of it is enough. In the name of a credential twelve count: eight
 * are there by chance once in tens of millions, and then a rightful credential would be refused.
 */
public final class SentSecrets {
    private static final String HIDDEN = "[secret]";
    private static final int PIECE = 8;
    private static final int PIECE_OF_NAME = 12;
    private static final int SHORTEST_PIECE = 4;
    private static final int SHORTEST_SECRET = 6;
    private static final int BASE64_QUANTUM = 3;

    /** For each secret the forms in which it may be quoted, its own letters and digits first. */
    private final List<List<String>> secrets;

    public SentSecrets(Collection<Secret> secrets) {
        this.secrets = secrets.stream().map(SentSecrets::forms).toList();
    }

    /**
     * A server's words with {@code [secret]} where they quote what it was sent. All of it is hidden
     * if a secret is so short that its pieces couldn't be told from other words.
     */
    public String hiddenIn(String words) {
        if (isAnyShort()) {
            return HIDDEN;
        }
        PlainText said = PlainText.of(words);
        boolean[] hidden = new boolean[words.length()];
        boolean any = false;
        for (List<String> forms : secrets) {
            for (String form : forms) {
                any |= said.mark(form, piece(form, PIECE), hidden);
            }
        }
        return any ? without(words, hidden) : words;
    }

    /**
     * Whether a text holds one of the secrets as a whole, in whatever form: a credential that does
     * is none, but hands out what the broker sent.
     */
    public boolean areIn(Secret text) {
        String said = PlainText.charactersOf(text.reveal());
        return secrets.stream()
                .flatMap(List::stream)
                .anyMatch(form -> form.length() >= SHORTEST_PIECE && said.contains(form));
    }

    /**
     * Whether the name of a credential holds a piece of one of the secrets, and so is none. Any
     * name does if a secret is so short that its pieces couldn't be told from other words.
     */
    public boolean arePartlyIn(String name) {
        if (isAnyShort()) {
            return true;
        }
        String said = PlainText.charactersOf(name);
        return secrets.stream().flatMap(List::stream).anyMatch(form -> isPieceIn(said, form));
    }

    private static boolean isPieceIn(String said, String form) {
        int piece = piece(form, PIECE_OF_NAME);
        // the pieces of a short name have its middle in common, which most forms haven't
        int last = said.length() - piece;
        if (last < 0 || (last < piece && !form.contains(said.substring(last, piece)))) {
            return false;
        }
        for (int i = 0; i + piece <= said.length(); i++) {
            if (form.contains(said.substring(i, i + piece))) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnyShort() {
        return secrets.stream().anyMatch(forms -> forms.getFirst().length() < SHORTEST_SECRET);
    }

    private static int piece(String form, int most) {
        return Math.clamp(form.length() / 2, SHORTEST_PIECE, most);
    }

    /** Base64 of a longer text holds that of this one from one of three places on. */
    private static List<String> forms(Secret secret) {
        byte[] bytes = secret.reveal().getBytes(StandardCharsets.UTF_8);
        List<String> forms = new ArrayList<>();
        forms.add(PlainText.charactersOf(secret.reveal()));
        forms.add(HexFormat.of().formatHex(bytes));
        for (int before = 0; before < BASE64_QUANTUM; before++) {
            byte[] shifted = new byte[before + bytes.length];
            System.arraycopy(bytes, 0, shifted, before, bytes.length);
            byte[] encoded = Base64.getEncoder().withoutPadding().encode(shifted);
            // the characters at either end depend on what stands beside the secret
            int from = before == 0 ? 0 : before + 1;
            int to = encoded.length - (shifted.length % BASE64_QUANTUM == 0 ? 0 : 1);
            forms.add(PlainText.raw(encoded, Math.min(from, to), to));
        }
        return List.copyOf(forms);
    }

    /** Whatever touches a piece of a secret may be more of it. */
    private static String without(String words, boolean[] hidden) {
        StringBuilder left = new StringBuilder();
        int i = 0;
        while (i < words.length()) {
            if (!hidden[i]) {
                left.append(words.charAt(i++));
                continue;
            }
            while (!left.isEmpty() && touches(left.charAt(left.length() - 1))) {
                left.setLength(left.length() - 1);
            }
            left.append(HIDDEN);
            while (i < words.length() && (hidden[i] || touches(words.charAt(i)))) {
                i++;
            }
        }
        return left.toString();
    }

    private static boolean touches(char c) {
        return !Character.isWhitespace(c) && ".,;:!?()[]{}<>'\"".indexOf(c) < 0;
    }

    /** Not even their fingerprints, which would tell a log's reader that they were sent there. */
    @Override
    public String toString() {
        return secrets.size() + " secrets";
    }
}
