/** Tags a table or a column, with the evidence for it. */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TagEvidence, TagSource } from '../core/tag.ts'
import { limits } from '../limits.ts'
import { saveTag } from '../store/contract/rows.ts'
import { recordTagChange, requireEvidence } from '../store/contract/tag-changes.ts'
import { type ChangeContext, changeContracts, checkName } from './change.ts'

interface TagReason extends TagEvidence {
  /** Default: `person`. The classifier sets its tags itself. */
  readonly source?: Exclude<TagSource, 'classifier'> | undefined
}

/**
 * Tags one column; without one the table, whose columns inherit the tag.
 * @throws Fault `bad_request` for a malformed tag or reason, `not_found` for an unknown table or column,
 *   `unprocessable` for evidence that is not there, and where a mask or filter of the tag cannot be applied
 */
export async function putTag(
  on: ChangeContext,
  table: TableRef,
  column: string | undefined,
  tag: string,
  { source = 'person', ...evidence }: TagReason = {},
): Promise<void> {
  checkName(tag)
  const { contract, contractVersion, note = '' } = evidence
  if ((contract === undefined) !== (contractVersion === undefined))
    throw new Fault('bad_request', '`contract` and `contract_version` go together.')
  if (source === 'document' && contract === undefined)
    throw new Fault('bad_request', 'A tag of a `document` names its `contract` and `contract_version`.')
  if (note.length > limits.decisionReasonCharsMax)
    throw new Fault('bad_request', `\`note\` has at most ${limits.decisionReasonCharsMax} characters.`)
  const subject = { table, ...(column !== undefined && { column }), tag }
  const made = { action: 'put-tag', subject, value: { source, ...evidence } } as const
  await changeContracts(on, made, async (tx) => {
    await requireEvidence(tx, evidence)
    const concerned = await saveTag(tx, on.tenant, { table, column }, tag)
    await recordTagChange(tx, on.actor, { action: 'set', table, column, tag, source, evidence })
    return concerned
  })
}
