package io.mintmark.base.config;

/**
 * A setting's text, as an operator wrote it.
 *
 * @param name what complaints call it: the environment variable, or the key and line of the file
 * @param text never blank; a blank one counts as not written
 */
record RawSetting(String name, String text) {}
