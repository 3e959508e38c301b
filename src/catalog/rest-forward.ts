/** Forwards other requests to an Iceberg REST upstream: builds paths from validated parts, and maps refusals to Faults. */

import { Fault, type FaultKind } from '../base/fault.ts'
import type { CatalogKind } from '../core/catalog-kinds.ts'
import { namespaceKey } from '../core/table-ref.ts'
import { assertNames, type CatalogError, type ForwardRequest, type UpstreamReply } from './catalog.ts'
import { type CatalogVariant, credentialsExpired, replyClause } from './rest-session.ts'

/** Words of the API, names, plan ids: characters that need no encoding, and no dot segment. */
const wordPattern = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,1024}$/

/**
 * The path text below `/v1/{prefix}`.
 * @throws Fault `bad_request` for a part that is not allowed in a path, or a namespace too deep for the kind
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

/** Statuses with which the upstream refuses and has done nothing. */
const refusals: ReadonlyMap<number, FaultKind> = new Map([
  [400, 'bad_request'],
  [404, 'not_found'],
  [406, 'not_acceptable'],
  [409, 'conflict'],
  [422, 'unprocessable'],
  [501, 'not_implemented'],
])

/** The error that a reply other than a success means for its request. */
export function forwardRefusal(
  variant: CatalogVariant,
  reply: UpstreamReply,
  { mutates, subject }: Pick<ForwardRequest, 'mutates' | 'subject'>,
): CatalogError | Fault {
  const { status, type, message } = reply
  if (status === 401 || status === 419) return credentialsExpired(reply)
  const kind = variant.isTableNotFound(reply) ? 'not_found' : refusals.get(status)
  if (kind !== undefined && type !== 'CommitStateUnknownException')
    return new Fault(kind, message ?? `The upstream catalog answered ${status} for ${subject}.`, {
      ...(type === undefined ? {} : { type }),
    })
  if (mutates && leavesOpen(reply)) return changeUnknown(subject, replyClause(reply))
  return refused(reply)
}

/** The Fault of a refusal that no other kind names. Nothing was changed. */
export function refused(reply: UpstreamReply): Fault {
  const { status, type, retryAfter } = reply
  const kind = status === 403 ? 'upstream_forbidden' : 'upstream_failed'
  const refusal = {
    status,
    ...(type !== undefined && { type }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
  return new Fault(kind, `The upstream catalog ${replyClause(reply)}.`, leavesOpen(reply) ? {} : { refusal })
}

/** Statuses of 4xx with which a proxy gives up on a request that it may have forwarded. */
const givenUp: ReadonlySet<number> = new Set([408, 499])

/**
 * Whether a reply other than a success leaves open whether the change was made. A redirect is no refusal: something
 * before the catalog sent it, and may have passed the request on.
 */
export function leavesOpen({ status, type }: UpstreamReply): boolean {
  const refuses = (status >= 400 && status < 500 && !givenUp.has(status)) || status === 501
  return !refuses || type === 'CommitStateUnknownException'
}

/** The Fault of a change whose reply was lost. */
export function changeUnknown(subject: string, clause: string, cause?: unknown): Fault {
  return new Fault(
    'commit_unknown',
    `The upstream catalog ${clause}; the change of ${subject} may or may not have been made.`,
    { cause, type: 'CommitStateUnknownException' },
  )
}
