/** The version of PostgreSQL that clients are told, by the connection and by the catalog alike. */

/**
 * Older than the database behind the catalog: what a client knows of 14 is all there in 18, and clients older
 * than 18 trip over what is newer.
 */
export const serverVersion = { text: '14.20', number: '140020' } as const
