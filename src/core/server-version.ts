/** States the PostgreSQL version that the connection, the catalog and `version()` report to clients. */

/**
 * Older than the database behind the catalog, which is 18. That database has everything that clients expect of 14,
 * while older clients fail on newer versions.
 */
export const serverVersion = { text: '14.20', number: '140020' } as const

/** What `version()` returns. */
export const versionText = `PostgreSQL ${serverVersion.text} (Covenant), 64-bit`
