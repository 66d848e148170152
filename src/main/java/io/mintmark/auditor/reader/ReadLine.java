package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.auditor.verify.SealedRange;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What a line of an export is: the header of a part, or a line that belongs somewhere; neither if
 * no export writes it.
 *
 * @param origin where the line was read, for people
 */
record ReadLine(Optional<SealedRange> header, Optional<PlacedLine> line, String origin) {

    static ReadLine of(ByteBuffer bytes, ExportedLog.Form form, String origin) {
        Optional<String> text = decoded(bytes).flatMap(form::row);
        Optional<SealedRange> header = text.flatMap(SealedRange::in);
        Optional<PlacedLine> line =
                text.filter(_ -> header.isEmpty())
                        .flatMap(ExportedLine::parse)
                        .flatMap(row -> ExportedPlaces.line(row, text.get(), origin));
        return new ReadLine(header, line, origin);
    }

    private static Optional<String> decoded(ByteBuffer bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
