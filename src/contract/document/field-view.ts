/** Shows what Covenant does with each field of a document, and which tags its classifications give. */

import { described, list, maybe, object, oneOf, ordinal, text } from '../../http/schemas.ts'
import { type ClassificationTag, classificationKey } from '../../store/contract/classification-tags.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import { fieldOutcomes } from '../../wire/odcs/field-report.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'

/** A field of a document. */
export const fieldSchema = object({
  path: described(text, 'items of lists are counted together'),
  outcome: described(
    oneOf(fieldOutcomes),
    'enforced: requests are refused or altered by it; stored: shown or compared, and not enforced; ignored: only kept',
  ),
  count: described(ordinal, 'how often the field is there'),
  enforced_after_days: maybe(
    described(
      ordinal,
      'it is enforced so many days after the contract begins to govern the table; absent: at once',
    ),
  ),
  tags: maybe(
    described(
      list(object({ classification: text, tag: text })),
      'the tags that classifications in this object of `schema` give by the settings; absent where none does',
    ),
  ),
})

/** Shows a field. @param map which tag each classification gives */
export function fieldView(
  { afterDays, ...field }: ReadDocument['fields'][number],
  model: ContractModel,
  map: readonly ClassificationTag[],
) {
  const tags = tagsAt(field.path, model, map)
  return {
    ...field,
    ...(afterDays !== undefined && { enforced_after_days: afterDays }),
    ...(tags.length > 0 && { tags }),
  }
}

function tagsAt(path: string, { schemas }: ContractModel, map: readonly ClassificationTag[]) {
  const index = /^schema\[(\d+)\].*\.classification$/.exec(path)?.[1]
  const schema = index === undefined ? undefined : schemas[Number(index)]
  if (schema?.table === undefined) return []
  const written = new Set(
    schema.properties.flatMap(({ classifications }) => classifications ?? []).map(classificationKey),
  )
  return map.filter(({ classification }) => written.has(classificationKey(classification)))
}
