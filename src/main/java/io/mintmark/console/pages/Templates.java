package io.mintmark.console.pages;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.Utf8ByteOutput;

import java.util.Map;

/** The templates of {@code src/main/jte}, which the build makes classes of. */
final class Templates {
    private final TemplateEngine engine =
            TemplateEngine.createPrecompiled(
                    null,
                    ContentType.Html,
                    Templates.class.getClassLoader(),
                    Templates.class.getPackageName());

    /** The whole page, in UTF-8. */
    byte[] page(Frame frame, View view) {
        Utf8ByteOutput bytes = new Utf8ByteOutput();
        engine.render(
                view.template() + ".jte",
                Map.of("frame", frame, "page", view.model()),
                new VisibleOutput(bytes));
        return bytes.toByteArray();
    }
}
