package io.mintmark.config;

import java.util.Optional;

/**
 * Who logs in to the database.
 *
 * @param password empty where the server asks for none
 */
public record Login(String username, Optional<Password> password) {}
