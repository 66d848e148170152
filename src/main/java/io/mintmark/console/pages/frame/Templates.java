package io.mintmark.console.pages.frame;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.TemplateOutput;
import gg.jte.html.OwaspHtmlTemplateOutput;
import gg.jte.output.Utf8ByteOutput;

import io.mintmark.audit.text.VisibleText;

import java.util.Map;

/** The templates of {@code src/main/jte}, which the build makes classes of. */
final class Templates {
    /** The package of the templates' classes; those of a folder are in its subpackage. */
    private static final String PACKAGE = "io.mintmark.console.pages";

    private final TemplateEngine engine =
            TemplateEngine.createPrecompiled(
                    null, ContentType.Html, Templates.class.getClassLoader(), PACKAGE);

    /** The whole page, in UTF-8. */
    byte[] page(Frame frame, View view) {
        Utf8ByteOutput bytes = new Utf8ByteOutput();
        engine.render(
                view.template() + ".jte",
                Map.of("frame", frame, "page", view.model()),
                new VisibleOutput(bytes));
        return bytes.toByteArray();
    }

    /** Writes what templates show, escaped for HTML, with nothing in it that can't be seen. */
    private static final class VisibleOutput extends OwaspHtmlTemplateOutput {
        VisibleOutput(TemplateOutput output) {
            super(output);
        }

        @Override
        public void writeUserContent(String value) {
            super.writeUserContent(value == null ? null : VisibleText.inLines(value));
        }
    }
}
