/** The pass-through to an Iceberg REST upstream: paths rebuilt from validated parts, and what a refusal means. */

import { Fault, type FaultKind } from '../base/fault.ts'
import type { CatalogKind } from '../core/catalog-kinds.ts'
import { namespaceKey } from '../core/table-ref.ts'
import { assertNames, type CatalogError, type ForwardRequest, type UpstreamAnswer } from './catalog.ts'
import { answered, credentialsExpired, type Dialect } from './rest-session.ts'

/** Words of the API, names, plan ids: characters that need no encoding, and no dot segment. */
const wordPattern = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,1024}$/

/**
 * The path text below `/v1/{prefix}`.
 * @throws Fault `bad_request` for a part that cannot stand in a path, or a namespace too deep for the kind
 */
export function forwardPath(kind: CatalogKind, path: ForwardRequest['path']): string {
  return path
    .map((part) => {
      if (typeof part !== 'string') {
        assertNames(kind, part)
        return `/${encodeURIComponent(namespaceKey(part))}`
      }
      if (!wordPattern.test(part))
        throw new Fault('bad_request', 'A part of the path holds a character that is not allowed.')
      return `/${part}`
    })
    .join('')
}

/** Statuses with which the upstream says that it did nothing, and why. */
const refusals: ReadonlyMap<number, FaultKind> = new Map([
  [400, 'bad_request'],
  [404, 'not_found'],
  [406, 'not_acceptable'],
  [409, 'conflict'],
  [422, 'unprocessable'],
  [501, 'not_implemented'],
])

/** What an answer that is no success means for the request that it answers. */
export function forwardRefusal(
  dialect: Dialect,
  answer: UpstreamAnswer,
  { mutates, subject }: Pick<ForwardRequest, 'mutates' | 'subject'>,
): CatalogError | Fault {
  const { status, type, message } = answer
  if (status === 401 || status === 419) return credentialsExpired(answer)
  const kind = dialect.isTableNotFound(answer) ? 'not_found' : refusals.get(status)
  if (kind !== undefined && type !== 'CommitStateUnknownException')
    return new Fault(kind, message ?? `The upstream catalog answered ${status} for ${subject}.`, {
      ...(type === undefined ? {} : { type }),
    })
  if (mutates && leavesOpen(answer)) return changeUnknown(subject, answered(answer))
  return refused(answer)
}

/** The Fault of a refusal that no other kind names. Nothing was changed. */
export function refused(answer: UpstreamAnswer): Fault {
  const kind = answer.status === 403 ? 'upstream_forbidden' : 'upstream_failed'
  return new Fault(kind, `The upstream catalog ${answered(answer)}.`)
}

/** Whether an answer that is no success leaves open whether the change that it answers was made. */
export function leavesOpen({ status, type }: UpstreamAnswer): boolean {
  // 408 comes from a proxy that may have passed the request on.
  return status < 300 || status >= 500 || status === 408 || type === 'CommitStateUnknownException'
}

/** The Fault of a change whose answer was lost. */
export function changeUnknown(subject: string, clause: string, cause?: unknown): Fault {
  return new Fault(
    'commit_unknown',
    `The upstream catalog ${clause}; the change of ${subject} may or may not have been made.`,
    { cause, type: 'CommitStateUnknownException' },
  )
}
