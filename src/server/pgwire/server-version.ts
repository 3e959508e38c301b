/** States the PostgreSQL version that the connection and the catalog report to clients. */

/**
 * Older than the database behind the catalog, which is 18. That database has everything that clients expect of 14,
 * while older clients fail on newer versions.
 */
export const serverVersion = { text: '14.20', number: '140020' } as const
