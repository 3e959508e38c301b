/** Maps the gateway's failures and warnings to HTTP (docs/reference/errors.md 2.1). Each surface words them itself. */

import { Fault, type FaultKind, toFault } from '../../base/fault.ts'
import { CatalogError, type CatalogErrorCode } from '../../catalog/catalog.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { limits } from '../../limits.ts'
import type { GatewayParts } from './parts.ts'

const sentinels = {
  ErrTableNotFound: { kind: 'not_found', type: 'NoSuchTableException' },
  ErrCommitConflict: { kind: 'conflict', type: 'CommitFailedException' },
  ErrCredentialsExpired: { kind: 'unauthenticated', type: 'NotAuthorizedException' },
  ErrAdapterStub: { kind: 'upstream_failed', type: 'BadGatewayException' },
} satisfies Record<CatalogErrorCode, { kind: FaultKind; type: string }>

/** Types that clients distinguish from a missing table: a missing namespace, or a missing file. */
const notFoundTypes: ReadonlySet<string> = new Set(['NoSuchNamespaceException', 'NotFoundException'])

/** Turns any thrown value into a Fault. The four sentinels get the kinds of docs/reference/catalogs.md 3.2. */
export function faultOf(thrown: unknown): Fault {
  if (!(thrown instanceof CatalogError)) return toFault(thrown)
  const { kind, type } = sentinels[thrown.code]
  const said = thrown.upstream?.type
  const exact = kind === 'not_found' && said !== undefined && notFoundTypes.has(said)
  return new Fault(kind, thrown.publicMessage, { cause: thrown, type: exact ? said : type })
}

/** The names of `warn` policies that were not true, each once, as many as fit. The decision's audit holds them all. */
export function warningHeader(warnings: readonly PolicyOutcome[]): Record<string, string> {
  let header = ''
  for (const name of new Set(warnings.map((outcome) => encodeURIComponent(outcome.name)))) {
    const longer = header === '' ? name : `${header}, ${name}`
    if (longer.length > limits.warningHeaderCharsMax) break
    header = longer
  }
  return header === '' ? {} : { 'x-svc-policy-warning': header }
}

/** Logs a failed request: defects and an unavailable policy engine as errors, everything else as information. */
export function logFault({ log }: Pick<GatewayParts, 'log'>, fault: Fault, commitId: string): void {
  const severe = fault.kind === 'internal' || fault.kind === 'policy_engine_unavailable'
  log[severe ? 'error' : 'info'](
    { faultId: fault.id, kind: fault.kind, detail: fault.detail, err: fault.cause, commitId },
    fault.publicMessage,
  )
}
