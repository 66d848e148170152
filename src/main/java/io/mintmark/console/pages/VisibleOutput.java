package io.mintmark.console.pages;

import gg.jte.TemplateOutput;
import gg.jte.html.OwaspHtmlTemplateOutput;

import io.mintmark.audit.VisibleText;

/** Writes what templates show, escaped for HTML, with nothing in it that can't be seen. */
final class VisibleOutput extends OwaspHtmlTemplateOutput {
    VisibleOutput(TemplateOutput output) {
        super(output);
    }

    @Override
    public void writeUserContent(String value) {
        super.writeUserContent(value == null ? null : VisibleText.inLines(value));
    }
}
