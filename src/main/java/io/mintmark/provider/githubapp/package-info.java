/** Type github-app: access tokens of an installation of a GitHub App. */
@NullMarked
package io.mintmark.provider.githubapp;

import org.jspecify.annotations.NullMarked;
