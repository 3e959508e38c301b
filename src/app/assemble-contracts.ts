/** Assembles what commits do to contracts: a commit that one refuses proposes a version, one that is covered activates it. */

import type { Clock } from '../base/clock.ts'
import { committerOf, proposeForCommit } from '../contract/commit/propose-for-commit.ts'
import type { DocumentCodec } from '../contract/document/document-codec.ts'
import { coverVersion } from '../contract/lifecycle/move-version.ts'
import type { ContractBreak } from '../core/contract-break.ts'
import type { TenantId } from '../core/tenant.ts'
import type { CommitContracts } from '../gateway/base/parts.ts'
import { checkPolicies } from '../query/compile/protect/protect.ts'
import { findSessionCreator } from '../store/session/sessions.ts'
import type { Store } from '../store/store.ts'

/** The contracts of a service as its gateway sees them. */
export function assembleContracts(store: Store, clock: Clock, codec: DocumentCodec): CommitContracts {
  return {
    propose: async (broken, evidence) => {
      const { tenant } = evidence
      const actor = committerOf(
        evidence.intent,
        await sessionOf(store, tenant, broken, evidence.intent.principal.sub),
      )
      return await proposeForCommit(codec, { store, tenant, actor, checkPolicies }, broken, evidence)
    },
    cover: async (tx, tenant, version, intent) => {
      const on = { store, tenant, checkPolicies, actor: committerOf(intent, undefined) }
      await coverVersion({ clock }, on, tx, version, intent.commitId)
    },
  }
}

/** The session of a commit. Where the subject is a claim, the session's own subject stands for who made the session. */
async function sessionOf(store: Store, tenant: TenantId, { session }: ContractBreak, committer: string) {
  if (session === undefined) return undefined
  const { id, kind, sub } = session
  const principal = { sub, roles: [] }
  const createdBy =
    sub === committer ? await findSessionCreator(store, { sessionId: id, tenant, kind, principal }) : sub
  return { id, kind, ...(createdBy !== undefined && { createdBy }) }
}
