package io.mintmark.postgres;

import java.util.Optional;

/**
 * Where a database is and as whom to log in.
 *
 * @param url {@code jdbc:postgresql:…}
 * @param password may be needless, as with certificates or peer authentication
 */
public record DatabaseLogin(String url, String username, Optional<String> password) {

    @Override
    public String toString() {
        return "login of '%s'".formatted(username);
    }
}
