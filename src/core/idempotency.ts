/** Requests that carry Iceberg's `Idempotency-Key` (docs/reference/gateway.md 8.4), and what is known of earlier ones. */

import type { Decision } from './decision.ts'

/** How long a request may be repeated by its key, as the configuration of the client surface names it (ISO 8601). */
export const keyLifetime = 'PT24H'

/** What makes a request with a key the same as another. */
export interface KeyedRequest {
  /** A UUID, in lower case. */
  readonly key: string
  /** Hex SHA-256 of method, path, principal and body. */
  readonly sha256: string
}

/** A request that asks for its key. */
export interface KeyClaim extends KeyedRequest {
  /** Commit ids of all changes of the request. */
  readonly commits: readonly string[]
}

/** The claim of a request, if it has a key. @param commits ids of all of its changes */
export function claimOf(request: KeyedRequest | undefined, commits: readonly string[]): KeyClaim | undefined {
  return request && { ...request, commits }
}

/** The verdict on one table of an earlier request. */
export interface EarlierDecision {
  readonly commitId: string
  readonly decision: Decision
  readonly reason: string
  readonly namespace: readonly string[]
  /** '' for a change of a namespace. */
  readonly name: string
}

/** The status and the body of a refusal. */
export interface EarlierRefusal {
  readonly status: number
  /** JSON. */
  readonly body: string
}

/** What is known of the first request with a key. */
export type EarlierRequest =
  /** It was another request. */
  | { readonly state: 'other' }
  /** It is in progress, or it is not known yet what it made. */
  | { readonly state: 'open' }
  | { readonly state: 'refused'; readonly refusal: EarlierRefusal }
  | { readonly state: 'decided'; readonly tables: number; readonly decisions: readonly EarlierDecision[] }

/** Stops a request whose key is known, before it changes anything. */
export class RepeatedRequest extends Error {
  override readonly name = 'RepeatedRequest'

  constructor(readonly earlier: EarlierRequest) {
    super('the Idempotency-Key is known')
  }
}

/** Causes that are looked at: a fault may name its table and its transaction. */
const causesMax = 6

/** What stopped a request, if its key did, whatever names it was given on the way. */
export function earlierRequestOf(thrown: unknown): EarlierRequest | undefined {
  let cause = thrown
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth++) {
    if (cause instanceof RepeatedRequest) return cause.earlier
    cause = cause.cause
  }
  return undefined
}
