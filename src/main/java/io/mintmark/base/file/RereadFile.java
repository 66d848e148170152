package io.mintmark.base.file;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of a file, or of several that belong together, that is reread while the broker
 * serves. If the new content is unusable, the previous one stays in use: the reader reports that
 * here, and it is logged once and shown as {@code mintmark_file_refused}.
 */
public final class RereadFile {
    private static final Logger log = LoggerFactory.getLogger(RereadFile.class);

    private final String setting;
    private volatile String complaint = "";

    /** A file that was accepted at startup. */
    public RereadFile(String setting) {
        this.setting = setting;
    }

    /** The name of the setting that names the file. */
    public String setting() {
        return setting;
    }

    /** Whether the file's latest contents were rejected. */
    public boolean isRefused() {
        return !complaint.isEmpty();
    }

    /** Notes that its contents are in use. */
    public synchronized void accepted() {
        if (isRefused()) {
            log.info("{}: the file is usable again", setting);
        }
        complaint = "";
    }

    /**
     * Notes that its contents can't be used, and logs each reason once.
     *
     * @param why a sentence that names the file, without secrets
     */
    public synchronized void refused(String why) {
        if (!why.equals(complaint)) {
            log.error("{}: {}. The former contents stay in use.", setting, why);
        }
        complaint = why;
    }
}
