/** What the catalog's host and its Worker say to each other: one message, one answer. */

export type ToWorker =
  /** Make a database from nothing, and give it back as a snapshot. */
  | { readonly kind: 'build' }
  | { readonly kind: 'open'; readonly snapshot: ArrayBuffer }
  /** Statements of ours, each text a transaction; none may fail. */
  | { readonly kind: 'perform'; readonly texts: readonly string[] }
  /** A client's messages, which are rolled back. */
  | { readonly kind: 'statement'; readonly begin: string; readonly frontend: Uint8Array }

export type FromWorker =
  | { readonly kind: 'built'; readonly snapshot: ArrayBuffer }
  | { readonly kind: 'done' }
  | { readonly kind: 'answered'; readonly messages: Uint8Array }
  /** The Worker is not to be used any more. */
  | { readonly kind: 'failed'; readonly tooLarge: boolean; readonly reason: string }
