-- What a rule of broker.provider_type may say. The rules themselves are in R__23_provider_types.sql.

COMMENT ON COLUMN broker.provider_type.provider_settings IS
    'Rules for broker.access_provider.settings, {"setting": rule}. A rule has "is" (text, url, flag, number, list, object, map: an object of texts, pem: certificates, policy: an object or its text, secret: {"file": name}, claim: {"name": …, "value": …}, claims: an object of them) and may have "required", "default", "one_of", "needs" (for a value, or for * which is any, the settings that are required with it), "needs_one_of" (settings of which one is required with it), "refuses" (for a value, or for * which is any, the settings that must be absent), "pattern" (of the text or of each element), "name_pattern" (of the names in a map), "reserved" (names that the broker sets), "not_for_vendors" (true for an audience that must not be a cloud vendor''s), "min", "max", "max_length", "max_items", "must_contain", "example".';
COMMENT ON COLUMN broker.provider_type.key_settings IS
    'Rules for broker.key.settings, in the same form. "names_in" of a map is the provider setting that lists its names. "target" is the form of what a target setting adds to the targets of a key, with %s for the text, the element, or the name and the value.';
COMMENT ON COLUMN broker.provider_type.further_targets IS
    'Other key settings with targets: allowed_targets limit them like target_setting.';
