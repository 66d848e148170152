package io.mintmark.exchange;

import io.mintmark.audit.MintTrail;
import io.mintmark.grant.Granted;

/** One key of a request that is to be minted. */
record Order(MintTrail trail, Granted granted) {}
