/** Errors of SCIM (RFC 7644, 3.12) as Faults: the status and the `scimType` go with the Fault's members. */

import { Fault, type FaultKind } from '../../base/fault.ts'

/** The `scimType` values of RFC 7644, table 9, that the service sends. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

const kinds: Readonly<Record<number, FaultKind>> = {
  400: 'bad_request',
  404: 'not_found',
  409: 'conflict',
  412: 'conflict',
  413: 'payload_too_large',
  415: 'not_acceptable',
  501: 'not_implemented',
}

/** A refusal with a status of SCIM. @param message for the client: what was wrong and what to do */
export function scimFault(status: number, message: string, scimType?: ScimType): Fault {
  return new Fault(kinds[status] ?? 'bad_request', message, {
    members: { status, ...(scimType !== undefined && { scimType }) },
  })
}

/** A 400 with a `scimType`. */
export function badScim(scimType: ScimType, message: string): Fault {
  return scimFault(400, message, scimType)
}
