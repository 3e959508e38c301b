/** Defines the messages between the catalog's host and its Worker: one result for each request. */

export type CatalogWorkerRequest =
  /** Create a new database and return it as a snapshot. */
  | { readonly kind: 'build' }
  | { readonly kind: 'open'; readonly snapshot: ArrayBuffer }
  /** Statements of ours. Each text is a transaction, and none may fail. */
  | { readonly kind: 'perform'; readonly texts: readonly string[] }
  /** A client's messages. Their transaction is rolled back. */
  | { readonly kind: 'statement'; readonly begin: string; readonly frontend: Uint8Array }

export type CatalogWorkerResult =
  | { readonly kind: 'built'; readonly snapshot: ArrayBuffer }
  | { readonly kind: 'done' }
  | { readonly kind: 'answered'; readonly messages: Uint8Array }
  /** The Worker must not be used again. */
  | { readonly kind: 'failed'; readonly tooLarge: boolean; readonly reason: string }
