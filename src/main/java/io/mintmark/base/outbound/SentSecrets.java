package io.mintmark.base.outbound;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;

/**
 * The secrets that one request sent, and where a response quotes them. Only letters and digits are
 * compared, without case, after URL, HTML and JSON escapes are decoded. A secret is thus found
 * verbatim, encoded once or more, in base64 of any alphabet and at any offset, in hexadecimal,
 * wrapped, spaced out, and truncated at either end.
 *
 * <p>Eight characters in a row count as a piece of a secret; fewer reveal nothing. Half of a short
 * secret is enough. In a credential's id twelve count: eight occur by chance once in tens of
 * millions, and a valid credential would then be withheld.
 */
public final class SentSecrets {
    private static final String HIDDEN = "[secret]";
    private static final int PIECE = 8;
    private static final int PIECE_OF_NAME = 12;
    private static final int SHORTEST_PIECE = 4;
    private static final int SHORTEST_SECRET = 6;
    private static final int BASE64_QUANTUM = 3;

    /** The forms in which each secret may be quoted, its own letters and digits first. */
    private final List<List<String>> secrets;

    public SentSecrets(Collection<Secret> secrets) {
        this.secrets = secrets.stream().map(SentSecrets::forms).toList();
    }

    /**
     * A server's message with {@code [secret]} in place of quoted secrets. The whole message is
     * replaced if a secret is too short to be distinguished from other words.
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
     * Whether a text contains one of the secrets completely, in any form: such a credential is
     * invalid and would reveal what the broker sent.
     */
    public boolean areIn(Secret text) {
        String said = PlainText.charactersOf(text.reveal());
        return secrets.stream()
                .flatMap(List::stream)
                .anyMatch(form -> form.length() >= SHORTEST_PIECE && said.contains(form));
    }

    /**
     * Whether a credential's id contains a piece of one of the secrets, and is thus invalid. Every
     * id counts if a secret is too short to be distinguished from other words.
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
        for (int i = 0; i <= last; i++) {
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

    /**
     * The forms of a secret. The Base64 of a longer text contains one of three Base64 forms of the
     * secret, depending on its position.
     */
    private static List<String> forms(Secret secret) {
        byte[] bytes = secret.reveal().getBytes(StandardCharsets.UTF_8);
        List<String> forms = new ArrayList<>();
        forms.add(PlainText.charactersOf(secret.reveal()));
        forms.add(HexFormat.of().formatHex(bytes));
        for (int before = 0; before < BASE64_QUANTUM; before++) {
            byte[] shifted = new byte[before + bytes.length];
            System.arraycopy(bytes, 0, shifted, before, bytes.length);
            byte[] encoded = Base64.getEncoder().withoutPadding().encode(shifted);
            // the characters at either end depend on the neighbours of the secret
            int from = before == 0 ? 0 : before + 1;
            int to = encoded.length - (shifted.length % BASE64_QUANTUM == 0 ? 0 : 1);
            forms.add(PlainText.comparedOf(Arrays.copyOfRange(encoded, Math.min(from, to), to)));
        }
        return List.copyOf(forms);
    }

    /**
     * The text without the hidden characters and all that touch them, which may belong to the
     * secret too.
     */
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

    /** Shows no fingerprints, because they would show in a log that the secrets were sent there. */
    @Override
    public String toString() {
        return secrets.size() + " secrets";
    }
}
