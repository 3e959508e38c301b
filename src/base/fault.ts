/**
 * The one error type of the service. Every failure becomes a Fault of a closed list of kinds. Each surface maps kinds
 * to its own status in a total table, so a new kind breaks compilation there. Only `kind` and `publicMessage` may reach
 * a client; `detail` and `cause` are for the log.
 */

export type FaultKind =
  | 'bad_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'policy_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'gone'
  | 'payload_too_large'
  | 'unprocessable'
  | 'tenant_context_missing'
  | 'misconfigured'
  | 'internal'
  | 'not_implemented'
  | 'upstream_failed'
  /** The upstream's own permissions forbid the request (403): it changed nothing. */
  | 'upstream_forbidden'
  /** The upstream may or may not have applied the commit: never retried blindly, never cleaned up. */
  | 'commit_unknown'
  | 'policy_engine_unavailable'
  | 'unavailable'
  /** The process has no memory left for it: nothing was done, and a later attempt may succeed. */
  | 'overloaded'

/** The refusal of an upstream, for a surface that passes it on as it is. */
export interface UpstreamRefusal {
  readonly status: number
  /** The ErrorModel `type`, if any. */
  readonly type?: string
  /** `Retry-After`, if any. */
  readonly retryAfter?: string
}

interface FaultOptions {
  /** More for the log than the public message says; never sent. */
  readonly detail?: string
  readonly cause?: unknown
  /** The Iceberg ErrorModel `type`, where a client expects a specific one (NoSuchTableException, …). */
  readonly type?: string
  /** Further members of the error object: SQLSTATE and position of a statement's error. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Set where an upstream refused, and so surely did nothing. */
  readonly refusal?: UpstreamRefusal
}

export class Fault extends Error {
  override readonly name = 'Fault'
  /** Identifies this occurrence in the log. */
  readonly id: string = crypto.randomUUID()
  readonly detail: string | undefined
  readonly type: string | undefined
  readonly members: Readonly<Record<string, unknown>> | undefined
  readonly refusal: UpstreamRefusal | undefined

  /**
   * @param kind what failed, from the closed list
   * @param publicMessage one sentence for the client: what was wrong and what to do; holds no secret
   */
  constructor(
    readonly kind: FaultKind,
    readonly publicMessage: string,
    options: FaultOptions = {},
  ) {
    super(publicMessage, options.cause === undefined ? undefined : { cause: options.cause })
    this.detail = options.detail
    this.type = options.type
    this.members = options.members
    this.refusal = options.refusal
  }
}

/** Any thrown value as a Fault: a Fault unchanged, anything else `internal` with the value as its cause. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  return new Fault('internal', 'Internal error.', { cause: thrown })
}

/** The message for the operator at the terminal of a process that failed: what went wrong, and why. Never for clients. */
export function tellOperator(thrown: unknown): string {
  if (!(thrown instanceof Fault)) return thrown instanceof Error ? thrown.message : String(thrown)
  const { publicMessage, cause, detail } = thrown
  // A cause that is a Fault repeats the message, so it is left out.
  const why = cause instanceof Error && !(cause instanceof Fault) ? cause.message : ''
  return [publicMessage, why || detail].filter(Boolean).join('\n')
}
