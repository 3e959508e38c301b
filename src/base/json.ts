/**
 * Strict JSON for untrusted bodies: exact integers, no duplicate keys, bounded depth, valid UTF-8.
 * Objects become Maps, so a key such as `__proto__` or `constructor` is only a key, and so that
 * policies read them without conversion. Integers become bigint, other numbers stay doubles.
 */

export type JsonValue = null | boolean | string | number | bigint | readonly JsonValue[] | JsonObject
export type JsonObject = ReadonlyMap<string, JsonValue>
