/** The secrets keys beside the one that seals, the key of the audit, and what may be set of them. */

import { sameSecret } from './base/same-secret.ts'
import type { Secret } from './base/secret.ts'
import type { VariableName } from './config-variables.ts'

/** Keys that open what other replicas, or earlier processes, sealed. */
export interface OtherKeys {
  readonly nextKey: Secret<Uint8Array> | undefined
  readonly formerKey: Secret<Uint8Array> | undefined
}

/** Reports what is wrong with the keys beside the present one: a key turns one step at a time, from one key to another. */
export function checkOtherKeys(
  present: Secret<Uint8Array> | undefined,
  { nextKey, formerKey }: OtherKeys,
  problem: (variable: VariableName, message: string) => void,
): void {
  if (nextKey !== undefined && formerKey !== undefined)
    problem('SVC_SECRETS_KEY_NEXT', 'is set together with SVC_SECRETS_KEY_FORMER: set one of them')
  const isPresent = (key: Secret<Uint8Array> | undefined) =>
    key !== undefined && present !== undefined && sameSecret(key.reveal(), present.reveal())
  const same = 'is the same key as SVC_SECRETS_KEY'
  if (isPresent(nextKey)) problem('SVC_SECRETS_KEY_NEXT', same)
  if (isPresent(formerKey)) problem('SVC_SECRETS_KEY_FORMER', same)
}

/** Where the keys that sign the audit are. */
export interface AuditKeyFiles {
  readonly keyFile: string
  /** Of the key that signed before. */
  readonly formerKeyFile: string | undefined
}

/** Reads where the keys of the audit are; undefined where no key is set. */
export function auditKeyFiles(
  text: (name: VariableName) => string | undefined,
  required: (name: VariableName, value: string | undefined, because: VariableName) => void,
): AuditKeyFiles | undefined {
  const keyFile = text('SVC_AUDIT_KEY_FILE')
  const formerKeyFile = text('SVC_AUDIT_KEY_FORMER_FILE')
  if (formerKeyFile !== undefined) required('SVC_AUDIT_KEY_FILE', keyFile, 'SVC_AUDIT_KEY_FORMER_FILE')
  return keyFile === undefined ? undefined : { keyFile, formerKeyFile }
}
