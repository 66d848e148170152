package io.mintmark.console.pages;

import gg.jte.TemplateOutput;
import gg.jte.html.OwaspHtmlTemplateOutput;

/**
 * Writes what templates show, escaped for HTML, with nothing in it that can't be seen: text from
 * outside can't hide a part of itself, nor turn the direction of what is read.
 */
final class VisibleOutput extends OwaspHtmlTemplateOutput {
    VisibleOutput(TemplateOutput output) {
        super(output);
    }

    @Override
    public void writeUserContent(String value) {
        super.writeUserContent(value == null ? null : visible(value));
    }

    /** Each character that has no shape of its own, by its number; line ends may stay. */
    static String visible(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints()
                .forEach(point -> {
                    if (isVisible(point)) {
                        shown.appendCodePoint(point);
                    } else {
                        shown.append("⟨U+%04X⟩".formatted(point));
                    }
                });
        return shown.toString();
    }

    private static boolean isVisible(int point) {
        return point == ' ' || point == '\n' || !isHidden(point);
    }

    /** Whether it is a control, a mark of direction, a space that isn't one, or nothing at all. */
    static boolean isHidden(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    true;
            case Character.SPACE_SEPARATOR -> point != ' ';
            default -> false;
        };
    }
}
