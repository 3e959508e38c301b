/** Turns what resolvers throw into GraphQL errors. Only the public message of a Fault leaves, and its code. */

import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { type Fault, type FaultKind, toFault } from '../../base/fault.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'

/** The code of each kind, in `extensions.code`. */
const codes = {
  bad_request: 'BAD_USER_INPUT',
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'FORBIDDEN',
  policy_denied: 'POLICY_DENIED',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'BAD_USER_INPUT',
  not_acceptable: 'BAD_USER_INPUT',
  conflict: 'CONFLICT',
  gone: 'GONE',
  payload_too_large: 'PAYLOAD_TOO_LARGE',
  unprocessable: 'UNPROCESSABLE',
  tenant_context_missing: 'INTERNAL_SERVER_ERROR',
  misconfigured: 'INTERNAL_SERVER_ERROR',
  internal: 'INTERNAL_SERVER_ERROR',
  not_implemented: 'NOT_IMPLEMENTED',
  upstream_failed: 'UPSTREAM_FAILED',
  upstream_forbidden: 'UPSTREAM_FORBIDDEN',
  commit_unknown: 'COMMIT_UNKNOWN',
  policy_engine_unavailable: 'UNAVAILABLE',
  unavailable: 'UNAVAILABLE',
  overloaded: 'OVERLOADED',
} satisfies Record<FaultKind, string>

/** The code of a kind. */
export function codeOf(kind: FaultKind): string {
  return codes[kind]
}

/** What a resolver threw, through the errors that execution puts around it; undefined where nothing did. */
function thrownBy(error: unknown): unknown {
  let inner = error
  while (inner instanceof GraphQLError) inner = inner.originalError
  return inner
}

/**
 * Makes the mask of errors. An error of the document itself (syntax, validation, a bound) passes: it holds nothing but
 * what the client sent.
 */
export function errorMask(log: Logger): (error: unknown) => Error {
  return (error) => {
    const thrown = thrownBy(error)
    if (error instanceof GraphQLError && thrown === undefined) return error
    const fault = toFault(thrown)
    const { kind, id: faultId, detail, cause: err } = fault
    log[codes[kind] === 'INTERNAL_SERVER_ERROR' ? 'error' : 'info'](
      { kind, faultId, detail, err },
      'a GraphQL field failed',
    )
    return graphqlError(fault, error instanceof GraphQLError ? error : undefined)
  }
}

function graphqlError(fault: Fault, at: GraphQLError | undefined): GraphQLError {
  const { kind, publicMessage } = fault
  // What somebody who was refused can do, and whom to ask.
  const hint = fault instanceof SqlError && fault.sqlState === '42501' ? fault.hint : undefined
  return new GraphQLError(publicMessage, {
    ...(at?.nodes && { nodes: at.nodes }),
    ...(at?.path && { path: at.path }),
    extensions: { code: codes[kind], ...(hint !== undefined && { hint }) },
  })
}

/** Kinds that a client can answer by another input: a mutation gives them as `userErrors`. */
const byInput: ReadonlySet<FaultKind> = new Set(['bad_request', 'not_found', 'conflict', 'unprocessable'])

export interface UserError {
  readonly code: string
  readonly message: string
}

/** The payload of a mutation: what it made, or why its input is refused. Other failures are thrown. */
export async function payloadOf<T extends object>(
  work: () => Promise<T>,
): Promise<Partial<T> & { readonly userErrors: readonly UserError[] }> {
  try {
    return { ...(await work()), userErrors: [] }
  } catch (thrown) {
    const fault = toFault(thrown)
    if (!byInput.has(fault.kind)) throw fault
    return {
      userErrors: [{ code: codes[fault.kind], message: fault.publicMessage }],
    } as unknown as Partial<T> & {
      userErrors: readonly UserError[]
    }
  }
}
