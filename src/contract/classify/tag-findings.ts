/** Says which tags of columns come and go with a version, by its classifications. It changes nothing. */

import type { TenantId } from '../../core/tenant.ts'
import { type DocumentTag, documentTagChanges } from '../../store/contract/document-tags.ts'
import type { RunQuery, StoredVerdict } from '../../store/contract/versions.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import { type Finding, harmless, protection } from './finding.ts'

const removed = 'tag-removed'
const removedMessage = ({ tag }: DocumentTag) => `The tag ${tag} is taken away from the column`

/**
 * The findings about tags. One that goes counts as looser access even where nothing hangs on it: a mask may be put on
 * it before the version comes in force.
 */
export async function tagFindings(
  run: RunQuery,
  tenant: TenantId,
  model: ContractModel,
): Promise<readonly Finding[]> {
  const { coming, going } = await documentTagChanges(run, tenant, model)
  return [
    ...coming
      .filter(({ isThere }) => !isThere)
      .map(({ at, tag, classification, protects }): Finding => {
        const message = `The classification ${classification} gives the column the tag ${tag}`
        return protects
          ? protection(at, 'tag-added', 'tightened', message)
          : { at, change: 'tag-added', ...harmless, access: 'tightened', message }
      }),
    ...going.map((one) => protection(one.at, removed, 'loosened', removedMessage(one))),
  ]
}

/** Whether a verdict, by which a version was signed, says that a tag goes. */
export function saysTagGoes(verdict: StoredVerdict | undefined, tag: DocumentTag): boolean {
  return (verdict?.findings ?? []).some(
    ({ at, change, message }) => at === tag.at && change === removed && message === removedMessage(tag),
  )
}
