/** Proposes a change of a contract that is in force: its document with some edits, as a draft that governs nothing. */

import { Fault } from '../../base/fault.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import { countProposals } from '../../store/contract/life-cycle.ts'
import {
  type ContractVersion,
  documentOf,
  type RunQuery,
  versionInForce,
} from '../../store/contract/versions.ts'
import type { DocumentEdit } from '../../wire/odcs/edit-document.ts'
import type { ChangeContext } from '../change.ts'
import type { ChangeVerdict } from '../classify/judge-change.ts'
import { judgeAgainstForce } from '../document/compare-document.ts'
import type { DocumentCodec } from '../document/document-codec.ts'
import { readContractDocument } from '../document/read.ts'
import { assertRules } from '../quality/check-rules.ts'
import { addDraftIn } from './add-version.ts'
import { neededSignOffs } from './state-machine.ts'

export interface Proposal {
  readonly contract: string
  readonly edits: readonly DocumentEdit[]
  readonly reason: string
}

interface ProposedChange {
  readonly draft: ContractVersion
  readonly verdict: ChangeVerdict
  /** The sign-offs that it will need once it is proposed. */
  readonly signOffs: readonly ('first' | 'second')[]
}

/** Proposals of one principal in 24 hours. */
const perDayMax = 10

/**
 * Adds the draft.
 * @throws Fault `not_found` where the contract has no document, `unprocessable` where it cannot be edited so,
 *   `forbidden` beyond ten proposals a day, and what `addDraft` throws
 */
export async function proposeChange(
  codec: DocumentCodec,
  on: ChangeContext,
  { contract, edits, reason }: Proposal,
): Promise<ProposedChange> {
  const { store, tenant, actor } = on
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const version = await versionInForce(run, tenant, contract)
  if (version === undefined)
    throw new Fault('not_found', 'The contract has no document in force, so there is nothing to edit.')
  const { format } = version
  const bytes = await documentOf(run, tenant, version)
  const read = await readContractDocument(codec, tenant, contract, { kind: 'edit', bytes, format, edits })
  await assertRules(on, read.model)
  const verdict = await judgeAgainstForce(run, tenant, read.model)
  const draft = await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    if ((await countProposals(tx, tenant, actor.sub)) >= perDayMax)
      throw new Fault('forbidden', `A principal proposes ${perDayMax} changes in 24 hours at most.`)
    return await addDraftIn(tx, on, read, { format, reason })
  })
  const needsSignOff = verdict.breaking || verdict.loosensAccess
  const signOffs = neededSignOffs({ needsSignOff, needsSecond: read.model.secondApproval })
  return { draft, verdict, signOffs }
}
